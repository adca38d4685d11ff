/** A change in the colour of its direction; grey where it is none, or rests on few rows. */
export function ChangeText(props: {
  now: number | null;
  before: number | null;
  /** The change in words; null where there is nothing to compare. */
  text: string | null;
  few?: boolean;
}) {
  const { now, before, text, few = false } = props;
  const moved = text !== null && now !== null && before !== null && /[1-9]/.test(text);
  const direction = !moved || few || now === before ? "none" : now > before ? "up" : "down";
  return (
    <span className="change" data-direction={direction}>
      {text ?? "–"}
    </span>
  );
}
