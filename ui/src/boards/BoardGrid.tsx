import "react-grid-layout/css/styles.css";
import { useMemo } from "react";
import { GridLayout, type LayoutItem, useContainerWidth } from "react-grid-layout";
import type { Tile } from "../api/documents";
import { GRID_COLUMNS } from "../query/dashboard";

const ROW = 30;
const MARGIN = 10;
/** Narrower, the tiles are below each other. */
const NARROW = 700;

/** The pixels that so many rows of the grid are high. */
const heightOf = (rows: number) => rows * ROW + (rows - 1) * MARGIN;

/** The tiles in their grid. While the dashboard is edited they can be dragged and resized. */
export function BoardGrid(props: {
  tiles: readonly Tile[];
  edits: boolean;
  onChange: (tiles: Tile[]) => void;
  children: (tile: Tile, at: number, height: number) => React.ReactNode;
}) {
  const { tiles, edits, onChange, children } = props;
  const { width, containerRef, mounted } = useContainerWidth();
  const isNarrow = width < NARROW;
  const layout = useMemo(
    () =>
      isNarrow ? below(tiles) : tiles.map(({ x, y, w, h }, at) => ({ i: `${at}`, x, y, w, h })),
    [tiles, isNarrow],
  );
  const change = (next: readonly LayoutItem[]) => {
    const places = new Map(next.map((item) => [item.i, item]));
    const moved = tiles.map((tile, at) => {
      const { x, y, w, h } = places.get(`${at}`) ?? tile;
      return { ...tile, x, y, w, h };
    });
    const isMoved = moved.some((tile, at) =>
      (["x", "y", "w", "h"] as const).some((key) => tile[key] !== tiles[at]?.[key]),
    );
    if (edits && !isNarrow && isMoved) onChange(moved);
  };
  return (
    <div ref={containerRef}>
      {mounted && (
        <GridLayout
          width={width}
          layout={layout}
          gridConfig={{
            cols: isNarrow ? 1 : GRID_COLUMNS,
            rowHeight: ROW,
            margin: [MARGIN, MARGIN],
            containerPadding: [0, 0],
          }}
          dragConfig={{ enabled: edits && !isNarrow, cancel: "input,button,[role=menu],canvas" }}
          resizeConfig={{ enabled: edits && !isNarrow }}
          onLayoutChange={change}
        >
          {tiles.map((tile, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the grid knows tiles by their places
            <div key={`${at}`}>{children(tile, at, heightOf(tile.h))}</div>
          ))}
        </GridLayout>
      )}
    </div>
  );
}

/** All tiles below each other, in the order in which they are read. */
function below(tiles: readonly Tile[]): LayoutItem[] {
  const order = tiles.map((tile, at) => ({ tile, at }));
  order.sort((a, b) => a.tile.y - b.tile.y || a.tile.x - b.tile.x);
  let y = 0;
  return order.map(({ tile, at }) => {
    const item = { i: `${at}`, x: 0, y, w: 1, h: tile.h };
    y += tile.h;
    return item;
  });
}
