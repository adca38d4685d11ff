import { NativeSelect } from "@mantine/core";
import type { Column } from "../../api/types";
import { type SetUnit, UNIT_NAMES, unitOfName } from "../../base/units";
import { useColumnUnits } from "./columnUnits";

/** The unit of a column's numbers: what its name says, or another one. */
export function UnitField({ table, column }: { table: string; column: Column }) {
  const { units, kept, setUnit } = useColumnUnits(table);
  const byName = unitOfName(column.name);
  const named = UNIT_NAMES.find(([unit]) => unit === (byName ?? "none"))?.[1] ?? "";
  return (
    <NativeSelect
      size="xs"
      my={4}
      aria-label={`Unit of ${column.name}`}
      title={`How charts and tables show these numbers${kept.has(column.name) ? ", in this browser" : ""}`}
      value={units.get(column.name) ?? ""}
      data={[
        { value: "", label: `Unit: ${named}, by its name` },
        ...UNIT_NAMES.map(([value, label]) => ({ value, label: `Unit: ${label}` })),
      ]}
      onChange={(event) => {
        const { value } = event.currentTarget;
        setUnit(column.name, value === "" ? null : (value as SetUnit));
      }}
    />
  );
}
