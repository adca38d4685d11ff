import {
  Button,
  Checkbox,
  Group,
  Modal,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import type { Dashboard, Variable } from "../api/documents";
import type { Table as TableStatus } from "../api/types";
import { useTableColumns } from "../explore/tableColumns";
import { tablesOf, variableTarget } from "../query/dashboard";
import { VIEWS } from "../views/registry";
import { filteredBy, nameMistake, nameOfColumn, withoutVariable, withVariable } from "./variables";

/** As many as a dashboard may have. */
const VARIABLES_MOST = 20;

interface Props {
  dashboard: Dashboard;
  tables: readonly TableStatus[];
  onChange: (change: (dashboard: Dashboard) => Dashboard) => void;
}

/** The button *Variables* of a dashboard that is edited, and the dialog that changes them. */
export function VariablesButton(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Variables
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Variables" size="lg">
        <Variables {...props} />
      </Modal>
    </>
  );
}

function Variables({ dashboard, tables, onChange }: Props) {
  const variables = dashboard.variables ?? [];
  // The name of the variable that is changed; empty for a new one, null while there is no form.
  const [changed, setChanged] = useState<string | null>(variables.length === 0 ? "" : null);
  const save = (variable: Variable, filters: boolean) => {
    onChange((board) => {
      const next = withVariable(board, variable, changed || null, VIEWS);
      return filters ? filteredBy(next, variable, VIEWS) : next;
    });
    setChanged(null);
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        A variable stands for values that are chosen above the tiles. A tile uses it as $name in a
        filter. Removing a variable also removes the filters that have it.
      </Text>
      {variables.length > 0 && (
        <VariableTable
          dashboard={dashboard}
          variables={variables}
          onEdit={setChanged}
          onRemove={(name) => {
            onChange((board) => withoutVariable(board, name, VIEWS));
            if (changed === name) setChanged(null);
          }}
        />
      )}
      {changed === null ? (
        <Group>
          <Button
            size="xs"
            variant="default"
            disabled={variables.length >= VARIABLES_MOST}
            onClick={() => setChanged("")}
          >
            Add a variable
          </Button>
        </Group>
      ) : (
        <VariableForm
          key={changed}
          dashboard={dashboard}
          tables={tables}
          changed={changed}
          onSave={save}
          onCancel={() => setChanged(null)}
        />
      )}
    </Stack>
  );
}

function VariableTable(props: {
  dashboard: Dashboard;
  variables: readonly Variable[];
  onEdit: (name: string) => void;
  onRemove: (name: string) => void;
}) {
  return (
    <Table verticalSpacing={4} fz="sm">
      <Table.Tbody>
        {props.variables.map((variable) => {
          const { name } = variable;
          const target = variableTarget(props.dashboard, variable, VIEWS);
          return (
            <Table.Tr key={name}>
              <Table.Td fw={600}>${name}</Table.Td>
              <Table.Td className="wrap">
                {target ? `${target.column} of ${target.table}` : "no column"}
              </Table.Td>
              <Table.Td>
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Change the variable ${name}`}
                    onClick={() => props.onEdit(name)}
                  >
                    Change
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    aria-label={`Remove the variable ${name}`}
                    onClick={() => props.onRemove(name)}
                  >
                    Remove
                  </Button>
                </Group>
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}

function VariableForm(props: {
  dashboard: Dashboard;
  tables: readonly TableStatus[];
  /** The variable that is changed; empty for a new one. */
  changed: string;
  onSave: (variable: Variable, filters: boolean) => void;
  onCancel: () => void;
}) {
  const { dashboard, tables, changed } = props;
  const variables = dashboard.variables ?? [];
  const before = variables.find(({ name }) => name === changed);
  const target = before ? variableTarget(dashboard, before, VIEWS) : null;
  const [table, setTable] = useState(target?.table ?? tablesOf(dashboard)[0] ?? null);
  const [column, setColumn] = useState(target?.column ?? null);
  const [name, setName] = useState(changed);
  const [filters, setFilters] = useState(before === undefined);
  const columns = useTableColumns(tables.find((one) => one.name === table)).data ?? [];
  const names = columns.filter(({ type }) => type !== "time").map((one) => one.name);
  const others = variables.map((one) => one.name).filter((one) => one !== changed);
  const mistake = nameMistake(name, others);
  return (
    <form
      aria-label={before ? `The variable ${changed}` : "A new variable"}
      onSubmit={(event) => {
        event.preventDefault();
        if (table && column && !mistake) props.onSave({ name, table, column }, filters);
      }}
    >
      <Stack gap="xs">
        <Group gap="xs" grow align="flex-start">
          <Select
            size="xs"
            label="Table"
            searchable
            allowDeselect={false}
            data={tables.map((one) => one.name)}
            value={table}
            onChange={(next) => {
              setTable(next);
              setColumn(null);
            }}
          />
          <Select
            size="xs"
            label="Column"
            placeholder="Its values are offered"
            searchable
            allowDeselect={false}
            data={names}
            value={column}
            onChange={(next) => {
              setColumn(next);
              if (name === "" && next) setName(nameOfColumn(next));
            }}
          />
          <TextInput
            size="xs"
            label="Name"
            value={name}
            error={name !== "" && mistake}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        </Group>
        <Checkbox
          size="xs"
          label={`Filter all tiles of ${table ?? "this table"} by it`}
          description={`Tiles of SQL are filtered only where their text has the variable, as in WHERE ${column ?? "host"} IN ($${name || "host"}).`}
          checked={filters}
          onChange={(event) => setFilters(event.currentTarget.checked)}
        />
        <Group gap="xs" justify="flex-end">
          <Button size="xs" variant="default" onClick={props.onCancel}>
            Cancel
          </Button>
          <Button size="xs" type="submit" disabled={!table || !column || mistake !== null}>
            {before ? "Change" : "Add"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
