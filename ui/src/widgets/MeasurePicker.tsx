import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconMathFunction } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useState } from "react";
import type { Column } from "../api/types";
import { FUNCTIONS, type Measure, measureLabel } from "../query/measure";
import { Chip } from "./Chip";
import { COUNTS, findMeasures, isOwnSql, type MeasureOption, measuresOf } from "./measureOptions";
import { TypeIcon } from "./TypeIcon";
import classes from "./widgets.module.css";

const SHOWN = 100;
const BACK = "back";
const OWN = "own";

/** What is computed. A function and then its column are picked, or `p95 lat` or SQL is typed. */
export function MeasurePicker(props: {
  columns: Column[];
  measures: readonly Measure[];
  onChange: (measures: Measure[]) => void;
}) {
  const { columns, measures, onChange } = props;
  const [text, setText] = useState("");
  const [fn, setFn] = useState<string | null>(null);
  const combobox = useCombobox({
    onDropdownClose: () => {
      setFn(null);
      setText("");
    },
  });
  const remove = (measure: Measure) => {
    const left = measures.filter((it) => it !== measure);
    onChange(left.length > 0 ? left : ["count(*)"]);
  };
  const choose = (option: string) => {
    setText("");
    if (option === BACK || option.startsWith("f:")) {
      setFn(option === BACK ? null : option.slice(2));
      return;
    }
    combobox.closeDropdown();
    const measure = option === OWN ? text.trim() : option.slice(2);
    if (!measures.includes(measure)) onChange([...measures, measure]);
  };
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape" && text === "") event.currentTarget.blur();
    if (event.key !== "Backspace" || text !== "") return;
    const last = measures.at(-1);
    if (fn !== null) setFn(null);
    else if (last !== undefined) remove(last);
  };
  return (
    <div style={{ display: "grid", gap: 6 }}>
      <div className={classes.chips}>
        {measures.map((measure) => {
          const only = measures.length === 1 && measure === "count(*)";
          return (
            <Chip
              key={measure}
              title={measureLabel(measure)}
              {...(only ? {} : { onRemove: () => remove(measure) })}
            >
              {measureLabel(measure)}
            </Chip>
          );
        })}
      </div>
      <Combobox store={combobox} onOptionSubmit={choose} size="xs" offset={4} shadow="md">
        <Combobox.Target>
          <TextInput
            id="measure-input"
            size="xs"
            leftSection={<IconMathFunction size={14} />}
            placeholder="Add: average, p95, sum, or SQL"
            aria-label="Add a measure"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              combobox.openDropdown();
            }}
            onFocus={() => combobox.openDropdown()}
            onClick={() => combobox.openDropdown()}
            onBlur={() => combobox.closeDropdown()}
            onKeyDown={keyDown}
          />
        </Combobox.Target>
        <Combobox.Dropdown>
          <Choices
            columns={columns}
            taken={measures}
            text={text}
            fn={fn}
            onDrawn={combobox.selectFirstOption}
            onNone={combobox.resetSelectedOption}
          />
        </Combobox.Dropdown>
      </Combobox>
    </div>
  );
}

interface ChoicesProps {
  columns: Column[];
  taken: readonly Measure[];
  text: string;
  fn: string | null;
  onDrawn: () => void;
  onNone: () => void;
}

function Choices({ columns, taken, text, fn, onDrawn, onNone }: ChoicesProps) {
  useEffect(() => {
    if (text === "" && fn === null) onNone();
    else onDrawn();
  }, [text, fn, onDrawn, onNone]);
  const own = isOwnSql(text) && (
    <Combobox.Option value={OWN} className={classes.option ?? ""}>
      <span className="faint">SQL</span> <code>{text.trim()}</code>
    </Combobox.Option>
  );
  const found =
    fn === null
      ? findMeasures(columns, text, SHOWN)
      : measuresOf(fn, columns, text).slice(0, SHOWN);
  const free = found.filter(({ measure }) => !taken.includes(measure));
  return (
    <Combobox.Options mah={320} style={{ overflowY: "auto" }}>
      {own}
      {fn === null && text === "" ? (
        <Functions columns={columns} taken={taken} />
      ) : (
        <>
          {free.map((option) => (
            <MeasureLine key={option.measure} option={option} bare={fn !== null} />
          ))}
          {free.length === 0 && !own && (
            <div className={classes.hint}>
              Nothing fits. An aggregate of SQL works as well: sum(bytes) / count(*)
            </div>
          )}
        </>
      )}
      {fn !== null && (
        <Combobox.Option value={BACK} className={`${classes.option} faint`}>
          <IconChevronLeft size={12} /> all functions
        </Combobox.Option>
      )}
    </Combobox.Options>
  );
}

function Functions({ columns, taken }: { columns: Column[]; taken: readonly Measure[] }) {
  const usable = FUNCTIONS.filter((fn) => columns.some((it) => fn.fits(it) && !it.is_time));
  return (
    <>
      {COUNTS.filter((it) => !taken.includes(it)).map((measure) => (
        <Combobox.Option key={measure} value={`m:${measure}`} className={classes.option ?? ""}>
          {measureLabel(measure)}
        </Combobox.Option>
      ))}
      {usable.map(({ name, label }) => (
        <Combobox.Option key={name} value={`f:${name}`} className={classes.option ?? ""}>
          <span className={classes.line}>
            <span className={classes.name}>{label}</span>
            <IconChevronRight size={13} color="var(--mantine-color-dimmed)" />
          </span>
        </Combobox.Option>
      ))}
    </>
  );
}

/** A measure to pick; under its function's heading only its column. */
function MeasureLine({ option, bare }: { option: MeasureOption; bare: boolean }) {
  const { measure, label, column } = option;
  return (
    <Combobox.Option value={`m:${measure}`} className={classes.option ?? ""}>
      <span className={classes.line}>
        {column && <TypeIcon type={column.type} />}
        <span className={classes.name} title={label}>
          {bare && column ? column.name : label}
        </span>
      </span>
    </Combobox.Option>
  );
}
