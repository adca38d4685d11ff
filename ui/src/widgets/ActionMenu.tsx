import { Menu, ScrollArea, TextInput } from "@mantine/core";
import {
  IconArrowsDiff,
  IconArrowsSplit,
  IconCalendarStats,
  IconChartLine,
  IconCopy,
  IconFilter,
  IconFilterOff,
  IconListDetails,
  IconZoomIn,
  IconZoomQuestion,
} from "@tabler/icons-react";
import { useState } from "react";

/** The things that a click on any mark offers; what is left out is not offered. */
export interface Actions {
  only?: () => void;
  exclude?: () => void;
  zoom?: () => void;
  groupBy?: (column: string) => void;
  overTime?: () => void;
  samples?: () => void;
  why?: () => void;
  rest?: () => void;
  compare?: () => void;
  copy?: () => void;
}

/** An action on a part of the mark: on one of its values, on what is in it. */
export interface PartAction {
  readonly label: string;
  readonly kind: "only" | "exclude";
  readonly run: () => void;
}

/** The same menu on every mark. It opens at a point of the window. */
export function ActionMenu(props: {
  label: string;
  point: { x: number; y: number };
  /** Columns to group by, the likeliest first. */
  columns: readonly string[];
  actions: Actions;
  parts?: readonly PartAction[];
  onClose: () => void;
}) {
  const { label, point, columns, actions, parts = [], onClose } = props;
  const [grouping, setGrouping] = useState(false);
  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-start"
      shadow="lg"
      width={240}
      trapFocus
      returnFocus
    >
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          aria-label={`Actions on ${label}`}
          className="anchor"
          style={{ left: point.x, top: point.y }}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={`Actions on ${label}`}>
        <Menu.Label className="clipped" title={label}>
          {label}
        </Menu.Label>
        {grouping && actions.groupBy ? (
          <GroupChoice columns={columns} onChoose={actions.groupBy} />
        ) : (
          <ActionItems actions={actions} parts={parts} onGroup={() => setGrouping(true)} />
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function ActionItems(props: {
  actions: Actions;
  parts: readonly PartAction[];
  onGroup: () => void;
}) {
  const { actions, parts, onGroup } = props;
  const items = [
    { name: "Filter to this", icon: IconFilter, run: actions.only },
    { name: "Exclude", icon: IconFilterOff, run: actions.exclude },
    ...parts.map(({ label, kind, run }) => ({
      name: label,
      icon: kind === "only" ? IconFilter : IconFilterOff,
      run,
    })),
    { name: "Zoom to this time", icon: IconZoomIn, run: actions.zoom },
    { name: "Group by…", icon: IconArrowsSplit, run: actions.groupBy && onGroup, stay: true },
    { name: "Over time", icon: IconChartLine, run: actions.overTime },
    { name: "Samples", icon: IconListDetails, run: actions.samples },
    { name: "Why?", icon: IconZoomQuestion, run: actions.why },
    { name: "Compare with the rest", icon: IconArrowsDiff, run: actions.rest },
    { name: "Compare with previous period", icon: IconCalendarStats, run: actions.compare },
    { name: "Copy", icon: IconCopy, run: actions.copy },
  ];
  return items
    .filter((item) => item.run)
    .map(({ name, icon: Icon, run, stay }, at) => (
      <Menu.Item
        key={name}
        leftSection={<Icon size={16} />}
        onClick={run}
        // Enter does the first, Esc drops what is selected.
        data-autofocus={at === 0 || undefined}
        closeMenuOnClick={!stay}
        title={name.length > 24 ? name : undefined}
        classNames={{ itemLabel: "clipped" }}
      >
        {name}
      </Menu.Item>
    ));
}

function GroupChoice({
  columns,
  onChoose,
}: {
  columns: readonly string[];
  onChoose: (column: string) => void;
}) {
  const [text, setText] = useState("");
  const matching = columns.filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <>
      <TextInput
        size="xs"
        m={6}
        placeholder="Group by which column?"
        aria-label="Find a column"
        data-autofocus
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && matching[0] && onChoose(matching[0])}
      />
      <ScrollArea.Autosize mah={260}>
        {matching.slice(0, 200).map((name) => (
          <Menu.Item key={name} onClick={() => onChoose(name)}>
            {name}
          </Menu.Item>
        ))}
        {matching.length === 0 && <Menu.Label>No matching column</Menu.Label>}
      </ScrollArea.Autosize>
    </>
  );
}
