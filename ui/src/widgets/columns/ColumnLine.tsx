import { Group, Text } from "@mantine/core";
import type { Column } from "../../api/types";
import classes from "../widgets.module.css";
import { noteOf } from "./columns";
import { TypeIcon } from "./TypeIcon";

/** A column in a list: its type, its name, how many values it has. */
export function ColumnLine({ column, marksMany = false }: { column: Column; marksMany?: boolean }) {
  const { text, title } = noteOf(column, marksMany);
  return (
    <Group gap={8} wrap="nowrap">
      <TypeIcon type={column.type} />
      <span className={classes.name} title={column.name}>
        {column.name}
      </span>
      <Text span fz={11} c="dimmed" className={classes.note} title={title}>
        {text}
      </Text>
    </Group>
  );
}
