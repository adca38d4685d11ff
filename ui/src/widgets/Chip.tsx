import { IconX } from "@tabler/icons-react";
import type { MouseEvent, ReactNode, Ref } from "react";
import classes from "./Chip.module.css";

/** One thing of several that were chosen. It can be pressed and taken away. */
export function Chip(props: {
  /** What it is in full: its tooltip, and its name for those who do not see it. */
  title: string;
  children: ReactNode;
  /** `negated` and `missing` look different, quietly. */
  tone?: "plain" | "negated" | "missing";
  icon?: ReactNode;
  onClick?: (event: MouseEvent) => void;
  /** `byKey`: the chip had the focus, which is now lost. */
  onRemove?: (byKey: boolean) => void;
  opened?: boolean;
  ref?: Ref<HTMLDivElement>;
}) {
  const { title, children, tone = "plain", icon, onClick, onRemove, opened, ref } = props;
  const remove = (key: string) => (key === "Backspace" || key === "Delete") && onRemove?.(true);
  const inside = (
    <>
      {icon}
      <span className={classes.text}>{children}</span>
    </>
  );
  return (
    <div ref={ref} className={classes.chip} data-tone={tone}>
      {onClick ? (
        <button
          type="button"
          className={classes.label}
          title={title}
          aria-label={title}
          aria-expanded={opened}
          aria-haspopup="dialog"
          onClick={onClick}
          onKeyDown={(event) => remove(event.key)}
        >
          {inside}
        </button>
      ) : (
        <span className={classes.label} title={title}>
          {inside}
        </span>
      )}
      {onRemove && (
        <button
          type="button"
          className={classes.remove}
          aria-label={`Remove ${title}`}
          onClick={(event) => onRemove(event.detail === 0)}
        >
          <IconX size={12} stroke={1.8} />
        </button>
      )}
    </div>
  );
}
