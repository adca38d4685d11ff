import { IconChevronLeft, IconChevronRight, IconMathFunction } from "@tabler/icons-react";
import { useState } from "react";
import type { Column } from "../../api/types";
import { FUNCTIONS, type Measure, measureLabel } from "../../query/measure";
import { Chip } from "../Chip";
import { TypeIcon } from "../columns/TypeIcon";
import classes from "../widgets.module.css";
import {
  COUNTS,
  findMeasures,
  looksLikeSql,
  type MeasureOption,
  measuresOf,
  SHARE_WHERE,
  typedShare,
} from "./measureOptions";
import { PickInput, PickOption, SHOWN, SqlOption } from "./PickInput";

const BACK = "back";
const CUSTOM = "custom";
const SHARE = "share";

/** What is computed. A function and then its column are picked, or `p95 lat` or SQL is typed. */
export function MeasurePicker(props: {
  columns: readonly Column[];
  measures: readonly Measure[];
  onChange: (measures: Measure[]) => void;
}) {
  const { columns, measures, onChange } = props;
  const [text, setText] = useState("");
  const [fn, setFn] = useState<string | null>(null);
  const remove = (measure: Measure) => {
    const left = measures.filter((it) => it !== measure);
    onChange(left.length > 0 ? left : ["count(*)"]);
  };
  const pick = (option: string) => {
    if (option === BACK || option.startsWith("f:")) {
      setFn(option === BACK ? null : option.slice(2));
      return true;
    }
    if (option === SHARE) {
      setText(SHARE_WHERE);
      return true;
    }
    const measure = option === CUSTOM ? text.trim() : option.slice(2);
    if (!measures.includes(measure)) onChange([...measures, measure]);
    return false;
  };
  const takeBack = () => {
    const last = measures.at(-1);
    if (fn !== null) setFn(null);
    else if (last !== undefined) remove(last);
  };
  return (
    <div className={classes.picker}>
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
      <PickInput
        id="measure-input"
        label="Add a measure"
        placeholder="Add: average, p95, sum, or SQL"
        icon={<IconMathFunction size={14} />}
        text={text}
        onText={setText}
        onPick={pick}
        onTakeBack={takeBack}
        onClose={() => setFn(null)}
        eager={fn !== null}
      >
        <Choices columns={columns} taken={measures} text={text} fn={fn} />
      </PickInput>
    </div>
  );
}

function Choices(props: {
  columns: readonly Column[];
  taken: readonly Measure[];
  text: string;
  fn: string | null;
}) {
  const { columns, taken, text, fn } = props;
  const asked = fn === null ? typedShare(text) : null;
  if (asked) return <ShareOption measure={asked.measure} />;
  const customSql = looksLikeSql(text) && <SqlOption value={CUSTOM} text={text} />;
  const matching =
    fn === null
      ? findMeasures(columns, text, SHOWN)
      : measuresOf(fn, columns, text).slice(0, SHOWN);
  const free = matching.filter(({ measure }) => !taken.includes(measure));
  return (
    <>
      {customSql}
      {fn === null && text === "" ? (
        <Functions columns={columns} taken={taken} />
      ) : (
        <>
          {free.map((option) => (
            <MeasureLine key={option.measure} option={option} bare={fn !== null} />
          ))}
          {free.length === 0 && !customSql && (
            <div className={classes.hint}>
              No match. A SQL aggregate works, too: sum(bytes) / count(*) AS size
            </div>
          )}
        </>
      )}
      {fn !== null && (
        <PickOption value={BACK} faint>
          <IconChevronLeft size={12} /> all functions
        </PickOption>
      )}
    </>
  );
}

function Functions({ columns, taken }: { columns: readonly Column[]; taken: readonly Measure[] }) {
  const usable = FUNCTIONS.filter((fn) => columns.some((it) => fn.fits(it) && !it.is_time));
  return (
    <>
      {COUNTS.filter((it) => !taken.includes(it)).map((measure) => (
        <PickOption key={measure} value={`m:${measure}`}>
          {measureLabel(measure)}
        </PickOption>
      ))}
      <PickOption value={SHARE}>
        <span className={classes.line}>
          <span className={classes.name}>share where …</span>
          <IconChevronRight size={13} color="var(--mantine-color-dimmed)" />
        </span>
      </PickOption>
      {usable.map(({ name, label }) => (
        <PickOption key={name} value={`f:${name}`}>
          <span className={classes.line}>
            <span className={classes.name}>{label}</span>
            <IconChevronRight size={13} color="var(--mantine-color-dimmed)" />
          </span>
        </PickOption>
      ))}
    </>
  );
}

/** The share of rows that meet the condition that is being typed. */
function ShareOption({ measure }: { measure: Measure | null }) {
  if (measure === null) {
    return <div className={classes.hint}>A condition: status &gt;= 500 AS "error rate"</div>;
  }
  return (
    <PickOption value={`m:${measure}`}>
      <span className={classes.name}>{measureLabel(measure)}</span>
    </PickOption>
  );
}

/** A measure to pick; under its function's heading only its column. */
function MeasureLine({ option, bare }: { option: MeasureOption; bare: boolean }) {
  const { measure, label, column } = option;
  return (
    <PickOption value={`m:${measure}`}>
      <span className={classes.line}>
        {column && <TypeIcon type={column.type} />}
        <span className={classes.name} title={label}>
          {bare && column ? column.name : label}
        </span>
      </span>
    </PickOption>
  );
}
