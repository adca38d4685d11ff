import classes from "./StageCount.module.css";

/** How many leaves are in a stage of a rollover, in the colour of its area. */
export function StageCount(props: { stage: "old" | "rolling" | "new"; count: number }) {
  const { stage, count } = props;
  return (
    <span className={classes.stage}>
      <span className={classes.swatch} data-stage={stage} aria-hidden />
      {count} {stage}
    </span>
  );
}
