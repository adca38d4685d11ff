import { Button, Group, MultiSelect, Popover } from "@mantine/core";
import { useMemo } from "react";
import type { QuerySpec } from "../../api/types";
import { useAnswer, useAsked, withoutPartial } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { LIMIT_MAX } from "../../query/query";
import type { ResolvedQuery } from "../../query/spec";
import { optionOf, withOption } from "../../query/viewManifest";
import { MeasureChart } from "../time/MeasureChart";
import { timeSpec } from "../time/spec";
import { FIELDS, fieldNames, fieldsText } from "./options";
import { SampleRows } from "./SampleRows";

/** Raw rows, newest first, below how many there are over time. */
export function SamplesView({ spec }: { spec: QuerySpec }) {
  const { query, commit } = useExplore();
  const result = useAnswer(spec);
  return (
    <ViewFrame
      title="Samples, newest first"
      spec={spec}
      result={result}
      height={500}
      tools={<Fields />}
    >
      {(answer) => (
        <>
          <CountOverTime />
          <SampleRows answer={answer} />
          {answer.rows.length >= query.limit && query.limit < LIMIT_MAX && (
            <Group justify="center" mt="sm">
              <Button
                size="xs"
                variant="default"
                onClick={() => commit({ ...query, limit: Math.min(LIMIT_MAX, query.limit * 3) })}
              >
                More
              </Button>
            </Group>
          )}
        </>
      )}
    </ViewFrame>
  );
}

const HISTOGRAM_HEIGHT = 110;

/** How many events there are over time; a drag zooms. */
function CountOverTime() {
  const { resolved } = useExplore();
  const counted = useMemo<ResolvedQuery>(() => {
    const query = { ...resolved.query, group: [], measures: ["count(*)"], compare: "" };
    return { ...resolved, query };
  }, [resolved]);
  const result = useAnswer(timeSpec(counted));
  const drawn = useAsked(withoutPartial(result), counted);
  return (
    <div style={{ minHeight: HISTOGRAM_HEIGHT + 30 }}>
      {result.data && (
        <MeasureChart answer={result.data} at={0} height={HISTOGRAM_HEIGHT} of={drawn} />
      )}
    </div>
  );
}

/** The columns that are shown, and their order: the order in which they are chosen. */
function Fields() {
  const { query, columns, commit } = useExplore();
  const chosen = fieldNames(optionOf(query, FIELDS));
  return (
    <Popover position="bottom-start" shadow="md" width={320}>
      <Popover.Target>
        <Button size="compact-xs" variant="default">
          {chosen.length === 0 ? "Columns" : `Columns: ${chosen.length} of ${columns.length}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Columns that are shown">
        <MultiSelect
          size="xs"
          searchable
          clearable
          hidePickedOptions
          aria-label="Columns that are shown"
          placeholder={chosen.length === 0 ? "All, the likeliest first" : ""}
          data={columns.map(({ name }) => name)}
          value={chosen}
          onChange={(names) => commit(withOption(query, FIELDS, fieldsText(names)))}
          comboboxProps={{ withinPortal: false }}
          maxDropdownHeight={260}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
