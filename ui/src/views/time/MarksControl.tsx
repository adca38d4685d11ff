import { Select, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { fetchColumns, type Problem } from "../../api/client";
import type { Column } from "../../api/types";
import { useExplore } from "../../explore/context";
import { optionOf, withOption } from "../../query/viewManifest";
import { type MarkSource, markSource, sourceText } from "./marks";
import { MARKS } from "./options";
import { useLoadedTables } from "./useMarks";

/** The table whose rows are marks in the chart, and the column that names them. */
export default function MarksControl() {
  const { query, commit } = useExplore();
  const source = markSource(optionOf(query, MARKS));
  const tables = useLoadedTables().map(({ name }) => name);
  const { data: columns = [] } = useQuery<Column[], Problem>({
    queryKey: ["columns", source?.table, "marks"],
    queryFn: ({ signal }) => fetchColumns(source?.table ?? "", signal),
    enabled: source !== null && tables.includes(source.table),
  });
  const set = (next: MarkSource | null) =>
    commit(withOption(query, MARKS, next ? sourceText(next) : ""));
  const shared = { size: "xs", searchable: true, clearable: true } as const;
  return (
    <Stack gap="xs">
      <Select
        {...shared}
        label="Marks are the rows of"
        placeholder="A table, such as deploys"
        data={tables}
        value={source?.table ?? null}
        onChange={(table) => set(table ? { table, column: "" } : null)}
        comboboxProps={{ withinPortal: false }}
      />
      {source && (
        <Select
          {...shared}
          label="Named by"
          placeholder="A column, such as version"
          data={columns.map(({ name }) => name)}
          value={source.column || null}
          onChange={(column) => set({ ...source, column: column ?? "" })}
          comboboxProps={{ withinPortal: false }}
        />
      )}
    </Stack>
  );
}
