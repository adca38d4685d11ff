import { ActionIcon, Box, Button, Group, Table, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Fragment, useState } from "react";
import type { Answer, Cell, Type } from "../api/types";
import { LIMIT_MAX } from "../query/question";
import { samplesSpec } from "../query/spec";
import { useAnswer } from "./answers";
import { CellView, cellText } from "./CellText";
import { pointOf, useDive } from "./dive";
import { ViewFrame } from "./ViewFrame";

/** Raw rows, newest first, with all their columns. */
export function SamplesView() {
  const { asked, question, commit } = useDive();
  const result = useAnswer(samplesSpec(asked));
  return (
    <ViewFrame title="Samples, newest first" result={result} height={500}>
      {(answer) => (
        <>
          <SampleRows answer={answer} />
          {answer.rows.length >= question.limit && question.limit < LIMIT_MAX && (
            <Group justify="center" mt="sm">
              <Button
                size="xs"
                variant="default"
                onClick={() =>
                  commit({ ...question, limit: Math.min(LIMIT_MAX, question.limit * 3) })
                }
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

/** The columns that have a value in some row, the time and short ones first. */
function columnOrder(answer: Answer): number[] {
  const weight = (at: number): number => {
    const { name, type } = answer.columns[at] ?? { name: "", type: "null" };
    if (type === "time") return at === 0 ? -2 : -1;
    if (name === "sample_rate") return 1000;
    const sizes = answer.rows.map((row) => (row[at] === null ? 0 : String(row[at]).length));
    const filled = sizes.filter((size) => size > 0);
    const length = filled.reduce((sum, size) => sum + size, 0) / Math.max(filled.length, 1);
    // Short and mostly filled ones can be compared down the page.
    return length + 40 * (1 - filled.length / sizes.length) + (type === "number" ? 8 : 0);
  };
  return answer.columns
    .map((_, at) => at)
    .filter((at) => answer.rows.some((row) => row[at] !== null))
    .map((at): [number, number] => [at, weight(at)])
    .sort((a, b) => a[1] - b[1])
    .map(([at]) => at);
}

export function SampleRows({ answer, most }: { answer: Answer; most?: number }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const places = columnOrder(answer);
  const toggle = (at: number) => {
    const next = new Set(open);
    if (!next.delete(at)) next.add(at);
    setOpen(next);
  };
  return (
    <Table.ScrollContainer minWidth={300} type="native">
      <Table
        className="samples numbers"
        fz="xs"
        verticalSpacing={3}
        horizontalSpacing={8}
        highlightOnHover
        stickyHeader
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={24} aria-label="Open" />
            {places.map((at) => (
              <Table.Th key={at} className="nowrap">
                {answer.columns[at]?.name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {answer.rows.slice(0, most).map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: raw rows have no identity but their place
            <Fragment key={at}>
              <SampleRow
                row={row}
                answer={answer}
                places={places}
                open={open.has(at)}
                onToggle={() => toggle(at)}
              />
              {open.has(at) && (
                <Table.Tr className="opened">
                  <Table.Td colSpan={places.length + 1}>
                    <SampleDetail row={row} answer={answer} places={places} />
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function SampleRow(props: {
  row: Cell[];
  answer: Answer;
  places: number[];
  open: boolean;
  onToggle: () => void;
}) {
  const { row, answer, places, open, onToggle } = props;
  const { zone, question } = useDive();
  const openCell = useCellMenu(answer);
  return (
    <Table.Tr>
      <Table.Td>
        <ActionIcon
          size="xs"
          variant="subtle"
          color="gray"
          onClick={onToggle}
          aria-expanded={open}
          aria-label="All of this row"
        >
          {open ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </ActionIcon>
      </Table.Td>
      {places.map((at) => {
        const { type = "null" } = answer.columns[at] ?? {};
        const cell = row[at] ?? null;
        return (
          <Table.Td
            key={at}
            className="cell"
            ta={type === "number" ? "right" : "left"}
            title={cell === null ? undefined : cellText(cell, type, zone)}
            onClick={(event) => openCell(at, cell, event)}
          >
            <CellView cell={cell} type={type} zone={zone} search={question.search} />
          </Table.Td>
        );
      })}
    </Table.Tr>
  );
}

/** All fields of one row, one under the other; each opens the menu. */
function SampleDetail({ row, answer, places }: { row: Cell[]; answer: Answer; places: number[] }) {
  const { zone, question } = useDive();
  const openCell = useCellMenu(answer);
  return (
    <Box className="detail">
      {places
        .filter((at) => row[at] !== null)
        .map((at) => {
          const { name, type } = answer.columns[at] ?? { name: "", type: "null" as Type };
          return (
            <Fragment key={at}>
              <Text size="xs" c="dimmed">
                {name}
              </Text>
              <UnstyledButton
                fz="xs"
                className="value"
                onClick={(event) => openCell(at, row[at] ?? null, event)}
              >
                <CellView
                  cell={row[at] ?? null}
                  type={type}
                  zone={zone}
                  search={question.search}
                  all
                />
              </UnstyledButton>
            </Fragment>
          );
        })}
    </Box>
  );
}

function useCellMenu(answer: Answer) {
  const { openMenu, zone } = useDive();
  return (at: number, cell: Cell, event: React.MouseEvent) => {
    const { name, type } = answer.columns[at] ?? { name: "", type: "null" as Type };
    const label = `${name}: ${cellText(cell, type, zone)}`;
    openMenu({ label, picks: [{ column: name, value: cell, type }], point: pointOf(event) });
  };
}
