import { Input, Switch, TextInput } from "@mantine/core";
import { IconArrowsSplit } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import type { Column, Settings } from "../../api/types";
import { visible } from "../../base/format";
import { Chip } from "../Chip";
import { findColumns, groupable } from "../columns/columns";
import { ColumnOptions, PickInput, PickOption } from "../pickers/PickInput";
import lines from "../widgets.module.css";
import classes from "./Retention.module.css";
import { columnsOf, columnsText, defaultOf, inputId, type Name, type Texts } from "./settingsDraft";

interface Props {
  current: Settings;
  /** The columns that rows can be grouped by. */
  columns: readonly Column[];
  /** The settings as they stand in the form. */
  texts: Texts;
  /** The setting that the server refused, and why. */
  wrong: { name: Name; reason: string } | null;
  onEdit: (name: Name, text: string) => void;
}

/** All settings of a table, each an input that is empty where the default rules. */
export function RetentionForm(props: Props) {
  return (
    <div className={classes.form}>
      <SettingField
        {...props}
        name="age"
        label="Age"
        about="Older rows are deleted: 30d, 12h, none"
      />
      <SettingField
        {...props}
        name="bytes"
        label="Bytes"
        about="Above, the oldest are deleted: 2GB"
      />
      <ArchiveSwitch {...props} />
      <SettingField
        {...props}
        wide
        name="cold_after"
        label="Cold after"
        about="Older rows are recompressed: smaller, slower to read: 3d, none"
      />
      <SettingField
        {...props}
        name="sample_after"
        label="Sample after"
        about="Older rows are sampled, weights scaled: 14d"
      />
      <SettingField
        {...props}
        name="sample_keep"
        label="Sample keep"
        about="Fraction kept: 1/100, 0.01"
      />
      <SettingField
        {...props}
        wide
        name="sample_key"
        label="Sample key"
        about="Rows with the same value are kept or deleted together"
      />
      <SampleBy {...props} />
      <SettingField
        {...props}
        wide
        digits
        name="sample_least"
        label="Sample least"
        about="Rows kept per group of a row block"
      />
      <SettingField
        {...props}
        wide
        name="storage"
        label="Storage"
        about="Rows are read from memory, or mmap"
      />
      <SettingField
        {...props}
        wide
        name="time_column"
        label="Time column"
        about="Holds the row time, from the next row on"
      />
    </div>
  );
}

function SettingField(
  props: Props & { name: Name; label: string; about: string; wide?: boolean; digits?: boolean },
) {
  const { current, texts, wrong, onEdit, name, label, about, wide = false, digits = false } = props;
  return (
    <TextInput
      size="xs"
      id={inputId(name)}
      className={wide ? (classes.wide ?? "") : ""}
      label={label}
      description={about}
      inputWrapperOrder={["label", "input", "error", "description"]}
      placeholder={defaultOf(name, current)}
      error={wrong?.name === name && wrong.reason}
      spellCheck={false}
      autoComplete="off"
      {...(digits ? { inputMode: "numeric" } : {})}
      value={texts[name]}
      onChange={({ currentTarget: { value } }) =>
        onEdit(name, digits ? value.replace(/\D/g, "") : value)
      }
    />
  );
}

function ArchiveSwitch({ current, texts, wrong, onEdit }: Props) {
  const { archive_place: place, settings } = current;
  const on = texts.archive === "on";
  // What was set to off stays set, so that switching to and fro changes nothing.
  const off = settings.archive === false ? "off" : "";
  return (
    <Switch
      size="xs"
      id={inputId("archive")}
      className={classes.wide ?? ""}
      label="Archive"
      description={
        place === null
          ? "This server has none: start it with --archive PLACE"
          : `Writes rows to ${visible(place)} before deleting them`
      }
      error={wrong?.name === "archive" && wrong.reason}
      disabled={place === null && !on}
      checked={on}
      onChange={(event) => onEdit("archive", event.currentTarget.checked ? "on" : off)}
    />
  );
}

const OTHER = "other";

/** The columns by which old rows are grouped before some of them go. */
function SampleBy({ columns, texts, wrong, onEdit }: Props) {
  const [text, setText] = useState("");
  const chosen = columnsOf(texts.sample_by);
  const set = (names: readonly string[]) => onEdit("sample_by", columnsText(names));
  const free = groupable(columns.filter(({ name }) => !chosen.includes(name)));
  const matching = findColumns(free, text);
  const typed = text.trim();
  const pick = (option: string) => {
    const name = option === OTHER ? typed : option.slice(1);
    if (!chosen.includes(name)) set([...chosen, name]);
    return false;
  };
  // In the form, Enter saves; here it picks.
  const keyDown = (event: KeyboardEvent) => event.key === "Enter" && event.preventDefault();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps a key from going further
    <div className={`${classes.wide} ${lines.picker}`} onKeyDown={keyDown}>
      <Input.Label size="xs" htmlFor={inputId("sample_by")}>
        Sample by
      </Input.Label>
      {chosen.length > 0 && (
        <div className={lines.chips}>
          {chosen.map((name) => (
            <Chip
              key={name}
              title={visible(name)}
              onRemove={() => set(chosen.filter((it) => it !== name))}
            >
              {visible(name)}
            </Chip>
          ))}
        </div>
      )}
      <PickInput
        id={inputId("sample_by")}
        label="Sample by"
        placeholder={chosen.length > 0 ? "Add a column" : "none: add a column"}
        icon={<IconArrowsSplit size={14} />}
        text={text}
        onText={setText}
        onPick={pick}
        onTakeBack={() => set(chosen.slice(0, -1))}
      >
        <ColumnOptions columns={matching} pickedBy={({ name }) => `:${name}`} />
        {typed !== "" && matching.length === 0 && (
          <PickOption value={OTHER}>
            {visible(typed)} <span className="faint">no column yet</span>
          </PickOption>
        )}
      </PickInput>
      {wrong?.name === "sample_by" && <Input.Error size="xs">{wrong.reason}</Input.Error>}
      <Input.Description size="xs">Each group of these columns keeps some rows</Input.Description>
    </div>
  );
}
