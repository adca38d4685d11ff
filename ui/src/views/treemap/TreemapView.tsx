import { Paper } from "@mantine/core";
import type { QuerySpec } from "../../api/types";
import { OTHER_COLOUR, strokesOf } from "../../base/colours";
import type { Point } from "../../charts/echart-tip";
import type { Tile } from "../../charts/treemap/layout";
import { TreemapChart } from "../../charts/treemap/TreemapChart";
import { useChartHeight, useExplore } from "../../explore/context";
import { measureLabel } from "../../query/measure";
import { GroupsFrame } from "../shared/GroupsFrame";
import type { Groups } from "../shared/groups";
import { useGroupMarks } from "../shared/useGroupMarks";

const HEIGHT = 520;

/** Groups as tiles, those of one value of the first column within one tile. */
export default function TreemapView({ spec }: { spec: QuerySpec }) {
  const { query } = useExplore();
  const title = `${measureLabel(query.measures[0] ?? "")} by ${query.group.join(", then ")}`;
  return (
    <GroupsFrame spec={spec} title={title} height={HEIGHT}>
      {(groups) => <Tiles groups={groups} />}
    </GroupsFrame>
  );
}

function Tiles({ groups }: { groups: Groups }) {
  const { query, openMenu } = useExplore();
  const height = useChartHeight(HEIGHT);
  const { marks, measured, textsOf, picksOfRow, press } = useGroupMarks(groups, query.group, 0);
  const texts = groups.rows.map(textsOf);
  // All tiles of one outer tile have its colour.
  const outer = [...new Set(texts.map(([first]) => first ?? ""))];
  const strokes = strokesOf([...outer.slice(0, 10).sort(), ...outer.slice(10)]);
  const leaves = marks.map((mark, at) => ({
    mark: {
      ...mark,
      colour: mark.isOther ? OTHER_COLOUR : (strokes.get(texts[at]?.[0] ?? "")?.colour ?? ""),
    },
    texts: texts[at] ?? [],
  }));
  const pick = (tile: Tile, point: Point) => {
    const mark = tile.leaves[0]?.mark;
    if (!mark) return;
    if (tile.isLeaf) return press(mark, point);
    const row = groups.rows[marks.findIndex(({ key }) => key === mark.key)];
    if (row) openMenu({ picks: picksOfRow(row).slice(0, tile.level), label: tile.label, point });
  };
  return (
    <Paper withBorder p="xs">
      <TreemapChart leaves={leaves} measured={measured} height={height} onPick={pick} />
    </Paper>
  );
}
