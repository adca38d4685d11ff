import { ActionIcon, Anchor, Group, Menu, Skeleton, Text, TextInput } from "@mantine/core";
import { IconDots, IconGripVertical } from "@tabler/icons-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Tile } from "../api/documents";
import type { Table } from "../api/types";
import { visible } from "../base/format";
import type { Zone } from "../base/zone";
import { QueryScope } from "../explore/QueryScope";
import { ShownView } from "../explore/ShownView";
import { useTableColumns } from "../explore/tableColumns";
import { type Frame, tileQuery } from "../query/dashboard";
import type { Query } from "../query/query";
import { VIEWS } from "../views/registry";
import { ProblemCard } from "../widgets/ProblemCard";
import classes from "./boards.module.css";

/** What is around a chart in a tile, in pixels: the tile's head, the view's head, legends. */
const AROUND_CHART = 110;
const CHART_MIN = 110;

export interface TileActions {
  readonly onTitle: (title: string) => void;
  readonly onDuplicate: () => void;
  readonly onRemove: () => void;
}

/** One tile: its title, its view, and its menu. It asks only while it is in sight. */
export function BoardTile(props: {
  tile: Tile;
  frame: Frame;
  tables: readonly Table[];
  now: number;
  zone: Zone;
  /** Its height in pixels. */
  height: number;
  /** What can be done while the dashboard is edited; null while it is not. */
  actions: TileActions | null;
  /** The address of a query in Explore. */
  hrefOf: (query: Query) => string;
  onExplore: (query: Query) => void;
}) {
  const { tile, frame, tables, actions } = props;
  const [place, seen] = useInSight();
  const now = useWhile(seen, props.now);
  const tableName = new URLSearchParams(tile.query).get("table") ?? "";
  const table = tables.find(({ name }) => name === tableName);
  const columns = useTableColumns(seen ? table : undefined);
  const names = useMemo(
    () => columns.data && new Set(columns.data.map(({ name }) => name)),
    [columns.data],
  );
  const query = useMemo(() => tileQuery(tile, frame, VIEWS, names), [tile, frame, names]);
  const title = tile.title || tableName;
  return (
    <section ref={place} className={classes.tile} aria-label={title} data-testid="tile">
      <Group gap={4} wrap="nowrap" className={classes.head}>
        {actions && <IconGripVertical size={14} className={classes.grip} aria-hidden />}
        {actions ? (
          <TextInput
            size="xs"
            variant="unstyled"
            className={classes.title}
            aria-label="Title of the tile"
            value={tile.title ?? ""}
            placeholder={tableName}
            onChange={(event) => actions.onTitle(event.currentTarget.value)}
          />
        ) : (
          <Text size="sm" fw={600} component="h2" m={0} className={`${classes.title} clipped`}>
            {query ? (
              <Anchor
                c="inherit"
                inherit
                href={props.hrefOf(query)}
                title={`Open ${title} in Explore`}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  props.onExplore(query);
                }}
              >
                {visible(title)}
              </Anchor>
            ) : (
              visible(title)
            )}
          </Text>
        )}
        <TileMenu
          title={title}
          actions={actions}
          onExplore={query ? () => props.onExplore(query) : null}
        />
      </Group>
      <div className={classes.body}>
        {!query ? (
          <Sorry>This tile's address has no query.</Sorry>
        ) : !table ? (
          <Sorry>There is no table {visible(tableName)}, or not yet.</Sorry>
        ) : columns.error ? (
          <ProblemCard problem={columns.error} />
        ) : !columns.data ? (
          seen && <Skeleton h={CHART_MIN} aria-label="Loading" />
        ) : (
          <QueryScope
            query={query}
            table={table}
            columns={columns.data}
            views={VIEWS}
            now={now}
            zone={props.zone}
            chartHeight={Math.max(CHART_MIN, props.height - AROUND_CHART)}
            commit={props.onExplore}
          >
            {() => <ShownView />}
          </QueryScope>
        )}
      </div>
    </section>
  );
}

function Sorry({ children }: { children: React.ReactNode }) {
  return (
    <Text size="sm" c="dimmed" ta="center" py="lg" role="note">
      {children}
    </Text>
  );
}

function TileMenu(props: {
  title: string;
  actions: TileActions | null;
  onExplore: (() => void) | null;
}) {
  const { title, actions, onExplore } = props;
  return (
    <Menu shadow="md" position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Menu of ${title}`}>
          <IconDots size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {!actions && onExplore && <Menu.Item onClick={onExplore}>Open in Explore</Menu.Item>}
        {!actions && <Menu.Label>Edit the dashboard to change this tile</Menu.Label>}
        {actions && <Menu.Item onClick={actions.onDuplicate}>Duplicate</Menu.Item>}
        {actions && (
          <Menu.Item color="red" onClick={actions.onRemove}>
            Remove
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Whether an element is in sight, or nearly. */
function useInSight(): [React.RefObject<HTMLElement | null>, boolean] {
  const ref = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) => setSeen(entries.at(-1)?.isIntersecting === true),
      { rootMargin: "200px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, seen];
}

/** A value that stays as it was while `follows` is false. */
function useWhile<T>(follows: boolean, value: T): T {
  const last = useRef(value);
  if (follows) last.current = value;
  return last.current;
}
