import { ScrollArea, Table, Text } from "@mantine/core";

/** The first rows of a file as they would be stored. */
export function PreviewRows({ rows }: { rows: Record<string, unknown>[] }) {
  if (rows.length === 0) {
    return (
      <Text fz="sm" c="dimmed">
        No row was read from the beginning of the file.
      </Text>
    );
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <ScrollArea type="auto">
      <Table withTableBorder verticalSpacing={2} fz="xs" data-testid="preview">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column} className="nowrap">
                {column}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity
            <Table.Tr key={at}>
              {columns.map((column) => (
                <Table.Td key={column} className="nowrap" maw={320} style={{ overflow: "hidden" }}>
                  {cellText(row[column])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}

function cellText(cell: unknown): string {
  if (cell === undefined || cell === null) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}
