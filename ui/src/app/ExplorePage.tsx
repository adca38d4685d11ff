import { AppShell, Box, Burger, Group, SegmentedControl, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { Column, Table } from "../api/types";
import type { Zone } from "../base/zone";
import { isIdentifier } from "../explore/columnRanking";
import { useKnown } from "../explore/columnStats";
import { type Dive, DiveContext, type Mark } from "../explore/context";
import { fitted } from "../explore/fitToColumns";
import { UnreadNote } from "../explore/IgnoredNote";
import { MarkMenu } from "../explore/MarkMenu";
import { useGrowth } from "../explore/refetchWhileRecovering";
import { SearchBox } from "../explore/SearchBox";
import { Rail } from "../explore/Sidebar";
import type { Question, View } from "../query/query";
import { rangeOf, rangeWithData } from "../query/time";
import type { Unread } from "../query/url";
import { VIEW_ENTRIES } from "../views/registry";

/** One table, one question: the knobs at the left, the answer at the right. */
export function ExplorePage(props: {
  question: Question;
  /** What of the address is not in the question. */
  unread: readonly Unread[];
  tables: Table[];
  table: Table;
  columns: Column[];
  now: number;
  zone: Zone;
  onZone: (zone: Zone) => void;
  commit: (next: Question) => void;
  /** The logo, and what stands at the right end of the head. */
  logo: ReactNode;
  tools: ReactNode;
}) {
  const { tables, table, now, zone, commit } = props;
  const { columns, told, want: wantFacts } = useKnown(table, props.columns);
  const { question, unfit } = useMemo(
    () => fitted(props.question, columns, now),
    [props.question, columns, now],
  );
  useGrowth(table);
  const [mark, setMark] = useState<Mark | null>(null);
  const [railOpen, rail] = useDisclosure(false);
  const openMenu = useCallback((it: Mark) => setMark(it), []);
  const identifiers = useMemo(
    () => new Set(columns.filter(isIdentifier).map((column) => column.name)),
    [columns],
  );
  const dive = useMemo<Dive>(() => {
    const usual = rangeOf({ ...question, ...rangeWithData(table, now) }, now) ?? {
      from: now - 3_600_000,
      to: now,
    };
    const range = rangeOf(question, now) ?? usual;
    return {
      question,
      asked: { question, columns, range },
      columns,
      told,
      wantFacts,
      identifiers,
      table,
      zone,
      now,
      commit,
      openMenu,
    };
  }, [question, columns, told, wantFacts, identifiers, table, zone, now, commit, openMenu]);
  const entry = VIEW_ENTRIES.find((it) => it.view === question.view);
  const View = entry?.component ?? (() => null);
  return (
    <DiveContext.Provider value={dive}>
      <AppShell
        header={{ height: 52 }}
        navbar={{ width: 320, breakpoint: "sm", collapsed: { mobile: !railOpen } }}
        padding="md"
      >
        <AppShell.Header px="md">
          <Group h="100%" wrap="nowrap" gap="sm">
            <Burger
              opened={railOpen}
              onClick={rail.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="The question"
            />
            {props.logo}
            <SearchBox />
            {props.tools}
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="sm">
          <Rail tables={tables} onZone={props.onZone} />
        </AppShell.Navbar>
        <AppShell.Main id="answer" tabIndex={-1}>
          <Box mb="md" className="views">
            <ViewChoice view={question.view} onChange={(view) => commit({ ...question, view })} />
          </Box>
          <UnreadNote unread={[...props.unread, ...unfit]} />
          <View />
        </AppShell.Main>
      </AppShell>
      {mark && <MarkMenu key={mark.label} mark={mark} onClose={() => setMark(null)} />}
    </DiveContext.Provider>
  );
}

function ViewChoice({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="View"
      value={view}
      onChange={(value) => onChange(value as View)}
      data={VIEW_ENTRIES.map(({ view: value, label, icon: Icon }, at) => ({
        value,
        label: (
          <Tooltip label={`${label} (key ${at + 1})`} openDelay={500}>
            <Group gap={6} wrap="nowrap" px={4}>
              <Icon size={15} />
              <Text span size="xs" className={view === value ? "" : "wide-only"}>
                {label}
              </Text>
            </Group>
          </Tooltip>
        ),
      }))}
    />
  );
}
