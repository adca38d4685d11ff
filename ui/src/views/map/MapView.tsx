import { Paper, Select, Text } from "@mantine/core";
import { numberOf } from "../../api/client";
import type { QuerySpec } from "../../api/types";
import type { Located } from "../../charts/world/WorldMap";
import { WorldMap } from "../../charts/world/WorldMap";
import { useExplore } from "../../explore/context";
import { measureLabel } from "../../query/measure";
import { beforeText } from "../../query/query";
import { withOption } from "../../query/viewManifest";
import { GroupsFrame } from "../shared/GroupsFrame";
import type { Groups } from "../shared/groups";
import { useGroupMarks } from "../shared/useGroupMarks";
import { COUNTRY, type Where, whereOf } from "./options";

/** Where rows are in the world: by country, or by latitude and longitude. */
export default function MapView({ spec }: { spec: QuerySpec }) {
  const { resolved, query, columns, commit } = useExplore();
  const where = whereOf(resolved);
  if (!where) return null;
  const names = columns.filter(({ type }) => type === "string").map(({ name }) => name);
  const choose = where.country !== null && (
    <Select
      size="xs"
      w={180}
      searchable
      aria-label="Column with countries"
      data={names}
      value={where.country}
      allowDeselect={false}
      onChange={(name) => name && commit(withOption(query, COUNTRY, name))}
    />
  );
  return (
    <GroupsFrame
      spec={spec}
      title={`${measureLabel(query.measures[0] ?? "")} by ${where.country === null ? "place" : ""}`}
      height={460}
      tools={choose}
    >
      {(groups) => <Places groups={groups} where={where} />}
    </GroupsFrame>
  );
}

function Places({ groups, where }: { groups: Groups; where: Where }) {
  const { query, chartHeight } = useExplore();
  const { marks, measured, press } = useGroupMarks(groups, where.group, 0);
  const located = marks.map((mark, at): Located => {
    const [first = null, second = null] = groups.rows[at]?.keys ?? [];
    if (where.country !== null) {
      const country = typeof first === "string" && !mark.isOther ? first : null;
      return { mark, country, place: null };
    }
    const [latitude, longitude] = [numberOf(first), numberOf(second)];
    const place = latitude === null || longitude === null ? null : { latitude, longitude };
    return { mark, country: null, place };
  });
  return (
    <Paper withBorder p="xs">
      <WorldMap {...{ located, measured }} heightMost={chartHeight} onPick={press} />
      <Text size="xs" c="dimmed" mt={6}>
        {groups.compared
          ? `Blue has more than ${beforeText(query.compare)}, orange less.`
          : "Stronger colours have more."}
      </Text>
    </Paper>
  );
}
