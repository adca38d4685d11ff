import { Stack, Tabs } from "@mantine/core";
import { type ComponentProps, memo, Suspense, useCallback, useState } from "react";
import type { Table } from "../api/types";
import { lazyPart } from "../base/part";
import type { Zone } from "../base/zone";
import { renamed, withDefinition, withoutDefinition } from "../query/definition";
import { toggleGroup, withFilter } from "../query/edit";
import { defaultQuery } from "../query/query";
import { viewOfColumn } from "../query/viewManifest";
import { ColumnsTab } from "../widgets/columns/ColumnsTab";
import { TablePicker } from "../widgets/pickers/TablePicker";
import { NO_DRAFT } from "../widgets/retention/settingsDraft";
import { useExplore } from "./context";
import { leaveOverview, QueryFields } from "./QueryFields";

const RetentionTab = lazyPart(() => import("../widgets/retention/RetentionTab"));

/** All fields of the query; in further tabs the table's columns and its retention. */
export const Sidebar = memo(function Sidebar(props: {
  tables: Table[];
  onZone: (zone: Zone) => void;
}) {
  const [draft, setDraft] = useState(NO_DRAFT);
  return (
    <Stack gap="sm" h="100%">
      <AskedTable tables={props.tables} />
      <Tabs defaultValue="query" keepMounted={false} className="sidebar-tabs">
        <Tabs.List grow mb="sm">
          <Tabs.Tab value="query">Query</Tabs.Tab>
          <Tabs.Tab value="columns">Columns</Tabs.Tab>
          <Tabs.Tab value="retention">Retention</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="query">
          <QueryFields onZone={props.onZone} />
        </Tabs.Panel>
        <Tabs.Panel value="columns">
          <Columns />
        </Tabs.Panel>
        <Tabs.Panel value="retention">
          <Suspense>
            <Retention draft={draft} onDraft={setDraft} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
});

function AskedTable({ tables }: { tables: Table[] }) {
  const { query, commit } = useExplore();
  const choose = useCallback((name: string) => commit(defaultQuery(name)), [commit]);
  return <TablePicker tables={tables} value={query.table} onChange={choose} />;
}

function Retention(props: Pick<ComponentProps<typeof RetentionTab>, "draft" | "onDraft">) {
  const { table, columns, zone } = useExplore();
  return <RetentionTab table={table} columns={columns} zone={zone} {...props} />;
}

function Columns() {
  const { query, resolved, columns, views, commit } = useExplore();
  const distribution = views.find(({ kind }) => kind === "distribution");
  return (
    <ColumnsTab
      resolved={resolved}
      columns={columns}
      group={query.group}
      onGroup={(column) => commit(toggleGroup(query, column, views))}
      onFilter={(filter) => commit(withFilter(query, filter))}
      onMeasure={(measure) => {
        const measures = [...query.measures.filter((it) => it !== measure), measure];
        commit(leaveOverview({ ...query, measures }, views, "measures"));
      }}
      onDefine={(definition, before) =>
        commit(withDefinition(renamed(query, before, definition.name), definition))
      }
      onUndefine={(name) => commit(withoutDefinition(query, name))}
      onDistribution={(column) => distribution && commit(viewOfColumn(query, distribution, column))}
    />
  );
}
