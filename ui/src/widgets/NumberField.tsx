import { NumberInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useState } from "react";

const DEBOUNCE_MS = 150;

/** A whole number from 1 to `max`. What is no such number is not asked, and does not stay. */
export function NumberField(props: {
  label: string;
  max: number;
  value: number;
  onChange: (value: number) => void;
}) {
  const { label, max, value, onChange } = props;
  const [draft, setDraft] = useState<number | string>(value);
  useEffect(() => setDraft(value), [value]);
  const later = useDebouncedCallback(onChange, DEBOUNCE_MS);
  return (
    <NumberInput
      size="xs"
      label={label}
      min={1}
      max={max}
      clampBehavior="none"
      allowDecimal={false}
      allowNegative={false}
      value={draft}
      onChange={(next) => {
        setDraft(next);
        const number = Number(next);
        if (Number.isInteger(number) && number >= 1 && number !== value) {
          later(Math.min(number, max));
        }
      }}
      onBlur={() => {
        later.flush();
        const number = Number(draft);
        if (!(Number.isInteger(number) && number >= 1)) setDraft(value);
        else setDraft(Math.min(number, max));
      }}
    />
  );
}
