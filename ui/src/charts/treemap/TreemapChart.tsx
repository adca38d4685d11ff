import { textOn } from "../../base/colours";
import { change, SKETCH_STEP } from "../../base/format";
import { inUnit } from "../../base/units";
import { useChartWidth } from "../echart";
import type { Point } from "../echart-tip";
import { buttonOf, type Mark, type Measured, markText, useMarkTip } from "../marks";
import { type Leaf, type Tile, tilesOf } from "./layout";
import styles from "./treemap.module.css";

/** Groups as tiles within tiles, as large as their values. */
export function TreemapChart(props: {
  leaves: readonly Leaf[];
  measured: Measured;
  height: number;
  /** Of a tile with tiles in it, the colour by its name. */
  onPick: (tile: Tile, point: Point) => void;
}) {
  const { leaves, measured, height, onPick } = props;
  const [ref, width] = useChartWidth<HTMLDivElement>();
  const { tip, over, clear } = useMarkTip(measured);
  const tiles = width > 0 ? tilesOf(leaves, width, height) : [];
  return (
    <div ref={ref} className={styles.treemap} style={{ height }}>
      {tiles.map((tile) => {
        const mark = markOfTile(tile);
        const { left, top } = tile;
        const colour = tile.isLeaf ? { background: mark.colour, color: textOn(mark.colour) } : {};
        const press = (point: Point) => {
          clear();
          onPick(tile, point);
        };
        return (
          <div
            key={tile.key}
            className={styles.tile}
            dir="auto"
            data-leaf={tile.isLeaf}
            style={{ left, top, width: tile.width, height: tile.height, ...colour }}
            {...buttonOf(markText(mark, measured), press)}
            {...over(mark)}
          >
            {tile.width > 28 && tile.height > 15 && <span>{tile.label}</span>}
            {tile.isLeaf && tile.width > 44 && tile.height > 34 && (
              <small>
                {inUnit(mark.value ?? 0, measured.unit)} {changed(mark, measured)}
              </small>
            )}
          </div>
        );
      })}
      {tip}
    </div>
  );
}

function changed(mark: Mark, { shift, estimated }: Measured): string {
  return shift === "" ? "" : (change(mark.value, mark.before, estimated ? SKETCH_STEP : 0) ?? "");
}

/** A tile as one mark: its group, or all groups in it together. */
function markOfTile({ key, label, leaves }: Tile): Mark {
  const [first] = leaves;
  if (first && leaves.length === 1) return { ...first.mark, label: first.mark.label || label };
  const sum = (read: (mark: Mark) => number | null) =>
    leaves.reduce((total, { mark }) => total + (read(mark) ?? 0), 0);
  return {
    key,
    label,
    value: sum(({ value }) => value),
    before: leaves.some(({ mark }) => mark.before !== null) ? sum(({ before }) => before) : null,
    colour: first?.mark.colour ?? "",
    samples: sum(({ samples }) => samples),
    isOther: false,
  };
}
