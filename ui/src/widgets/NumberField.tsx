import { TextInput } from "@mantine/core";
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
  const [draft, setDraft] = useState(String(value));
  useEffect(() => setDraft(String(value)), [value]);
  const later = useDebouncedCallback(onChange, DEBOUNCE_MS);
  const write = (text: string) => {
    setDraft(text);
    const number = numberOf(text);
    if (number !== null && number !== value) later(Math.min(number, max));
  };
  const step = (by: number) => {
    const next = (numberOf(draft) ?? value) + by;
    if (next >= 1 && next <= max) write(String(next));
  };
  return (
    <TextInput
      size="xs"
      label={label}
      role="spinbutton"
      inputMode="numeric"
      aria-valuemin={1}
      aria-valuemax={max}
      aria-valuenow={numberOf(draft) ?? value}
      value={draft}
      onChange={(event) => write(event.currentTarget.value.replace(/\D/g, ""))}
      onKeyDown={(event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        step(by);
      }}
      onBlur={() => {
        later.flush();
        setDraft(String(Math.min(numberOf(draft) ?? value, max)));
      }}
    />
  );
}

/** The whole number from 1 that a text says; null if it says none. */
function numberOf(text: string): number | null {
  const number = Number(text);
  return text !== "" && Number.isInteger(number) && number >= 1 ? number : null;
}
