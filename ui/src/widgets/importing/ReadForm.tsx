import { Accordion, Autocomplete, Group, Select, TextInput } from "@mantine/core";
import type { ReadOptions } from "../../api/importing";

const FORMATS = ["jsonl", "json", "geojson", "otlp", "csv", "tsv", "text", "lines"];
const SEPARATORS = [
  { value: ",", label: "," },
  { value: ";", label: ";" },
  { value: "tab", label: "tab" },
  { value: "|", label: "|" },
  { value: "~", label: "~" },
  { value: "^A", label: "^A" },
];

/** What a user can say about a file instead of what was detected. */
export function ReadForm(props: {
  options: ReadOptions;
  /** Columns that may hold the times. */
  columns: string[];
  onChange: (options: ReadOptions) => void;
  disabled: boolean;
}) {
  const { options, columns, onChange, disabled } = props;
  const set = (name: keyof ReadOptions) => (value: string | null) =>
    onChange({ ...options, [name]: value ?? "" });
  const choice = {
    placeholder: "detected",
    clearable: true,
    disabled,
    size: "xs",
    w: 130,
  } as const;
  return (
    <Accordion variant="contained">
      <Accordion.Item value="options">
        <Accordion.Control fz="sm">Read it otherwise</Accordion.Control>
        <Accordion.Panel>
          <Group align="end" gap="sm">
            <Autocomplete
              label="Time column"
              data={[...columns.filter((column) => column !== "received"), "received"]}
              value={options.time ?? ""}
              onChange={set("time")}
              {...choice}
            />
            <TextInput
              label="Time format"
              placeholder="%d.%m.%Y %H:%M"
              value={options["time-format"] ?? ""}
              onChange={(event) => set("time-format")(event.currentTarget.value)}
              size="xs"
              w={150}
              disabled={disabled}
            />
            <TextInput
              label="Zone"
              placeholder="UTC"
              value={options.zone ?? ""}
              onChange={(event) => set("zone")(event.currentTarget.value)}
              size="xs"
              w={130}
              disabled={disabled}
            />
            <Select
              label="Format"
              data={FORMATS}
              value={options.format || null}
              onChange={set("format")}
              {...choice}
            />
            <Select
              label="Separator"
              data={SEPARATORS}
              value={options.separator || null}
              onChange={set("separator")}
              {...choice}
            />
            <Select
              label="First line"
              data={[
                { value: "true", label: "names columns" },
                { value: "false", label: "is a row" },
              ]}
              value={options.header || null}
              onChange={set("header")}
              {...choice}
            />
            <Select
              label="Decimal mark"
              data={[".", ","]}
              value={options.decimal || null}
              onChange={set("decimal")}
              {...choice}
            />
          </Group>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
