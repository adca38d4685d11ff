import { Button, Group, Indicator, Menu, SegmentedControl, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconDots } from "@tabler/icons-react";
import { memo, useEffect, useMemo, useRef } from "react";
import type { ResolvedQuery } from "../query/spec";
import type { ViewManifest } from "../query/viewManifest";
import { type FittingView, fittingViews, rowOf } from "./fittingViews";
import classes from "./viewChoice.module.css";

/** The views that fit the query as a row, with the keys 1 to 9; the others in a menu. */
export function ViewChoice(props: {
  resolved: ResolvedQuery;
  views: readonly ViewManifest[];
  onChange: (kind: string) => void;
}) {
  const { resolved, views, onChange } = props;
  const shown = resolved.query.view.kind;
  const fitting = useMemo(() => fittingViews(resolved, views), [resolved, views]);
  const row = rowOf(fitting, shown);
  const numbered = row.filter(({ view }) => !view.apart);
  const keys = numbered.flatMap(({ view }, at): [string, () => void][] => {
    const run = () => onChange(view.kind);
    // Where a digit stands is a matter of the keyboard.
    return [
      [String(at + 1), run],
      [`shift+${at + 1}`, run],
    ];
  });
  useHotkeys(keys);
  const place = useRef<HTMLDivElement>(null);
  // A phone shows a part of the row.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view that is shown is what it is about
  useEffect(() => {
    const active = place.current?.querySelector("label[data-active]");
    active?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [shown]);
  return (
    <div className={classes.row}>
      <Group ref={place} gap={6} wrap="nowrap" w="max-content">
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={shown}
          onChange={onChange}
          data={row.map((it, at) => ({
            value: it.view.kind,
            label: (
              <RowLabel
                view={it.view}
                suggested={it.suggested}
                place={it.view.apart ? null : at + 1}
                isShown={it.view.kind === shown}
              />
            ),
          }))}
        />
        <MoreViews views={fitting.filter((it) => !row.includes(it))} onChange={onChange} />
      </Group>
    </div>
  );
}

const RowLabel = memo(function RowLabel(props: {
  view: ViewManifest;
  suggested: boolean;
  place: number | null;
  isShown: boolean;
}) {
  const { view, suggested, place, isShown } = props;
  const Icon = view.icon;
  const why = suggested ? ", suggested for this query" : "";
  const key = place === null ? "" : ` (key ${place})`;
  return (
    <span
      className={`${classes.label} ${suggested && !isShown ? classes.suggested : ""}`}
      data-hint={`${view.name}${key}${why}`}
    >
      {suggested && !isShown ? (
        <Indicator size={6} offset={1} display="flex">
          <Icon size={15} />
        </Indicator>
      ) : (
        <Icon size={15} />
      )}
      <span className={classes.name} data-shown={isShown}>
        {view.name}
      </span>
    </span>
  );
});

/** Views that do not stand in the row; of those that do not fit, why. */
function MoreViews(props: { views: readonly FittingView[]; onChange: (kind: string) => void }) {
  const { views, onChange } = props;
  const fit = views.filter(({ misfit }) => misfit === null);
  const others = views.filter(({ misfit }) => misfit !== null);
  if (views.length === 0) return null;
  const item = ({ view, misfit }: FittingView) => (
    <Menu.Item
      key={view.kind}
      leftSection={<view.icon size={15} />}
      onClick={() => onChange(view.kind)}
    >
      <Text size="xs">{view.name}</Text>
      {misfit !== null && (
        <Text size="xs" c="dimmed">
          {misfit}
        </Text>
      )}
    </Menu.Item>
  );
  return (
    <Menu shadow="md" width={300} position="bottom-end">
      <Menu.Target>
        <Button size="xs" fw={400} variant="default" leftSection={<IconDots size={14} />}>
          <span className={classes.more}>More</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="70vh" style={{ overflowY: "auto" }}>
        {fit.map(item)}
        {others.length > 0 && <Menu.Label>These need another query</Menu.Label>}
        {others.map(item)}
      </Menu.Dropdown>
    </Menu>
  );
}
