import { Paper, Select, Text } from "@mantine/core";
import { useMemo } from "react";
import type { Answer, QuerySpec } from "../../api/types";
import { visible } from "../../base/format";
import type { Point } from "../../charts/echart-tip";
import { FlameChart } from "../../charts/flame/FlameChart";
import { type Frame, framesOf } from "../../charts/flame/tree";
import { sides, useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { withFilter } from "../../query/edit";
import { measureLabel, measureUnit } from "../../query/measure";
import { EVENTS } from "../../query/spec";
import { withOption } from "../../query/viewManifest";
import { PATH, pathOf } from "./options";
import { withoutPath } from "./spec";

const HEIGHT = 360;

/** Which beginnings the vectors of a column have; compared, how the share of each changed. */
export default function FlameView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, columns, commit } = useExplore();
  const result = useAnswer(spec);
  const column = pathOf(resolved) ?? "";
  const names = columns.filter(({ type }) => type === "vector").map(({ name }) => name);
  const title = `Flame graph of ${measureLabel(query.measures[0] ?? "")}, by`;
  return (
    <ViewFrame
      title={title}
      spec={spec}
      result={result}
      height={HEIGHT}
      rowCounts={result.data ? countsOf(result.data, spec) : null}
      tools={
        <Select
          size="xs"
          w={180}
          aria-label="Column"
          data={names}
          value={column}
          allowDeselect={false}
          onChange={(name) => name && commit(withOption(query, PATH, name))}
        />
      }
    >
      {(answer) => <Flame answer={answer} column={column} />}
    </ViewFrame>
  );
}

/** The stored rows and the events of the root; null where no row has a vector. */
function countsOf(answer: Answer, spec: QuerySpec) {
  const { now, before } = sides(answer);
  const first = before === null ? 0 : 1;
  const root = now.find(([row, at]) => {
    const path = row[first];
    return Array.isArray(path) && path.length === 0 && !answer.other?.[at];
  });
  if (!root) return null;
  const [row, at] = root;
  const events = row[first + 1 + (spec.aggregates ?? []).indexOf(EVENTS)];
  return { samples: answer.samples?.[at] ?? 0, events: Number(events) };
}

function Flame({ answer, column }: { answer: Answer; column: string }) {
  const { query, columns, openMenu, chartHeight } = useExplore();
  const frames = useMemo(() => framesOf(answer), [answer]);
  const [root] = frames;
  if (!root) {
    return (
      <Text c="dimmed" py={48} ta="center">
        No row here has a value in {column}.
      </Text>
    );
  }
  const nameOf = ({ path, isRest }: Frame) => {
    if (isRest) return "smaller ones";
    const last = path.at(-1);
    return last === undefined ? `all with ${column}` : last === "" ? "(empty text)" : visible(last);
  };
  const pick = (frame: Frame, point: Point) => {
    const path = [...frame.path];
    const label = frame.isRest ? `Below ${nameOf({ ...frame, isRest: false })}` : nameOf(frame);
    if (path.length === 0) return openMenu({ label, picks: [], point });
    openMenu({
      label,
      picks: [],
      point,
      narrow: (it) => withFilter(it, { column, operator: "starts", values: path }),
      without: (it) => withoutPath(it, column, path),
    });
  };
  const compared = root.before !== null;
  return (
    <Paper withBorder p="xs">
      <FlameChart
        frames={frames}
        measured={{
          label: measureLabel(query.measures[0] ?? ""),
          unit: measureUnit(query.measures[0] ?? "", columns),
          additive: true,
          estimated: false,
          shift: compared ? query.compare : "",
          whole: root.value,
        }}
        nameOf={nameOf}
        heightMost={chartHeight}
        onPick={pick}
      />
      {compared && (
        <Text size="xs" c="dimmed" mt={6}>
          Widths are of both times together. Orange frames have a larger share than at the compared
          time, blue ones a smaller share.
        </Text>
      )}
    </Paper>
  );
}
