import { Combobox, Modal, TextInput, useCombobox } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { fetchDashboards, fetchViews } from "../api/documents";
import { visible } from "../base/format";
import { type Command, type CommandContext, commandsOf, matching } from "./commands";

/** As many are drawn; a part of a name leads to the others. */
const SHOWN = 60;
/** As many of the last queries are listed before something is typed. */
const RECENT = 8;

/** What the page hands over; what people have saved is asked for when the palette is opened. */
export type PaletteContext = Omit<CommandContext, "dashboards" | "savedViews">;

/** All that the page can do, chosen by typing: a dialog with a field and a list. */
export default function Palette(props: { context: PaletteContext; onClose: () => void }) {
  const { context, onClose } = props;
  const [text, setText] = useState("");
  const combobox = useCombobox({
    opened: true,
    onOpenedChange: (opened) => {
      if (!opened) onClose();
    },
  });
  const { selectFirstOption } = combobox;
  const saved = useSaved();
  const commands = useMemo(() => commandsOf({ ...context, ...saved }), [context, saved]);
  const shown = useMemo(() => shownOf(commands, text), [commands, text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is what it is about
  useEffect(() => {
    selectFirstOption();
  }, [shown, selectFirstOption]);
  const sections = [...new Set(shown.map(({ section }) => section))];
  return (
    <Modal opened onClose={onClose} size="lg" padding="xs" title="Commands and recent queries">
      <Combobox
        store={combobox}
        onOptionSubmit={(place) => {
          onClose();
          shown[Number(place)]?.run();
        }}
      >
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            leftSection={<IconSearch size={15} />}
            placeholder="A page, a view, a column, a table, an action"
            aria-label="Find a command"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options
          tabIndex={0}
          mt={6}
          mah="55vh"
          style={{ overflowY: "auto" }}
          aria-label="Commands"
        >
          {sections.map((section) => (
            <Combobox.Group key={section} label={section}>
              {shown.map((command, place) =>
                command.section === section ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: its place is what it is chosen by
                  <Combobox.Option key={place} value={String(place)} fz="sm" className="clipped">
                    {visible(command.label)}
                  </Combobox.Option>
                ) : null,
              )}
            </Combobox.Group>
          ))}
          {shown.length === 0 && <Combobox.Empty>No matching command</Combobox.Empty>}
        </Combobox.Options>
      </Combobox>
    </Modal>
  );
}

/** What people have saved; nothing while it is not known. */
function useSaved(): Pick<CommandContext, "dashboards" | "savedViews"> {
  const boards = useQuery({
    queryKey: ["dashboards"],
    queryFn: ({ signal }) => fetchDashboards(signal),
  }).data;
  const views = useQuery({
    queryKey: ["saved-views"],
    queryFn: ({ signal }) => fetchViews(signal),
  }).data;
  return useMemo(
    () => ({
      dashboards: (boards?.dashboards ?? []).map(({ name }) => name),
      savedViews: views ?? [],
    }),
    [boards, views],
  );
}

/** In the order of the sections, so that arrows go down the list. */
function shownOf(commands: readonly Command[], text: string): Command[] {
  const fitting = matching(commands, text);
  const recent = fitting.filter(({ section }) => section === "Recent queries");
  const others = fitting.filter(({ section }) => section !== "Recent queries");
  const ordered =
    text.trim() === "" ? [...recent.slice(0, RECENT), ...others] : [...others, ...recent];
  const sections = [...new Set(ordered.map(({ section }) => section))];
  return sections
    .flatMap((section) => ordered.filter((it) => it.section === section))
    .slice(0, SHOWN);
}
