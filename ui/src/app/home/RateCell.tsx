import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ask, type Problem, serverNow } from "../../api/client";
import type { Table } from "../../api/types";
import { count, short } from "../../base/format";
import { sparkPath } from "../../views/number/sparkline";
import { type Rate, rateOf, rateSpec } from "./rate";

const AGAIN_MS = 60_000;
const HOUR_MS = 3_600_000;
const [WIDTH, HEIGHT] = [120, 24];

/** The events of a table's last hour as a line, and how many come a second now. */
export function RateCell({ table }: { table: Table }) {
  const last = table.last_time === null ? 0 : Date.parse(table.last_time);
  const isQuiet = last < serverNow() - HOUR_MS;
  const { data } = useQuery<Rate, Problem>({
    queryKey: ["rate", table.name],
    queryFn: async ({ signal }) => {
      const spec = rateSpec(table.name, serverNow());
      return rateOf(await ask(spec, signal), spec);
    },
    enabled: !isQuiet,
    staleTime: AGAIN_MS,
    refetchInterval: AGAIN_MS,
    retry: false,
  });
  if (isQuiet) return <span className="faint">–</span>;
  if (!data) return <span className="spark" />;
  const sum = data.minutes.reduce((all, it) => all + it, 0);
  const words = `${count(sum)} events in the last hour`;
  return (
    <Group gap={8} wrap="nowrap" justify="flex-end" title={words}>
      <svg className="spark wide-only" width={WIDTH} height={HEIGHT} role="img" aria-label={words}>
        <path d={sparkPath(data.minutes, [data.minutes], WIDTH, HEIGHT)} />
      </svg>
      <Text span fz="sm" miw={64} ta="right">
        {short(data.perSecond)} /s
      </Text>
    </Group>
  );
}
