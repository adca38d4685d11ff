/**
 * A change in the colour of its direction; grey where it is none, or rests on few rows. What is new
 * was nothing before.
 */
export function ChangeText(props: {
  now: number | null;
  before: number | null;
  /** The change in words; null where there is nothing to compare. */
  text: string | null;
  few?: boolean;
}) {
  const { now, before, text, few = false } = props;
  const earlier = text === "new" ? (before ?? 0) : before;
  const moved = text !== null && now !== null && earlier !== null && /[1-9]|^new$/.test(text);
  const direction = !moved || few || now === earlier ? "none" : now > earlier ? "up" : "down";
  return (
    <span className="change" data-direction={direction}>
      {text ?? "–"}
    </span>
  );
}
