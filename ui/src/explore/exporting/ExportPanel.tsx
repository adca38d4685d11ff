import { Button, Menu, SegmentedControl } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { ask } from "../../api/client";
import { FORMATS, fileSpec, isRaw } from "../../api/download";
import { fileName } from "../../base/fileName";
import { count, counted } from "../../base/format";
import { htmlTable, tabSeparated } from "../../base/tableText";
import { type Picture, pictureOf, pngOf, svgFile } from "../../charts/picture/picture";
import { copyText } from "../../widgets/clipboard";
import { tell } from "../../widgets/notice";
import { rangeWords } from "../../widgets/time/timeWords";
import { useExplore } from "../context";
import { queryWords } from "../QueryLine";
import type { Exported } from "./exported";
import { fetchFile, save } from "./files";

/** The title of a view, with what is chosen in the fields beside it. */
function titleText(head: HTMLElement): string {
  const title = head.querySelector("h2")?.textContent ?? "";
  const fields = [
    ...head.querySelectorAll<HTMLInputElement>("input:is([type=text], :not([type]))"),
  ];
  return [title, ...fields.map(({ value }) => value)].join(" ").trim();
}

/** The menu *Export*, opened: files of the answer, the table to paste, pictures. */
export function ExportPanel({ spec, answer, heading, picture, hasData, busy }: Exported) {
  const { query, resolved, now, zone } = useExplore();
  const [all, setAll] = useState(false);
  const named = (extension: string) =>
    fileName({ table: query.table, view: query.view.kind, ...resolved.range }, extension);
  const copyTable = async () => {
    // Compared sides stand beside each other, as in a file.
    const [format] = FORMATS;
    const joined = format && fileSpec(spec, format, false);
    const shown = spec.compare && joined ? await ask(joined) : answer;
    const names = shown.columns.map(({ name }) => name);
    const words = `Copied ${counted(shown.rows.length, "row")}`;
    await copyText(tabSeparated(names, shown.rows), words, htmlTable(names, shown.rows));
  };
  const draw = async (write: (drawn: Picture) => Promise<Blob> | Blob, extension: string) => {
    const words = [rangeWords(query.from, query.to, now, zone), ...queryWords(query)];
    const title = heading.current ? titleText(heading.current) : "";
    const about = [query.table, ...words].join(" · ");
    const drawn = picture.current && (await pictureOf(picture.current, { title, about }));
    if (!drawn) return tell("This is too large for a picture: show fewer rows.", true);
    save(await write(drawn), named(extension));
    tell(`Saved ${named(extension)}`);
  };
  const failed = () => tell("The picture could not be drawn.", true);
  const notCopied = () => tell("The table could not be copied.", true);
  return (
    <Menu shadow="md" position="bottom-end" defaultOpened width={230} closeOnItemClick>
      <Menu.Target>
        <Button
          size="compact-xs"
          variant="default"
          disabled={busy}
          leftSection={<IconDownload size={13} />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {hasData && (
          <>
            <Menu.Label>Data</Menu.Label>
            {spec.limit !== undefined && (
              <SegmentedControl
                size="xs"
                fullWidth
                mx="xs"
                mb={4}
                aria-label="Rows of the file"
                value={all ? "all" : "shown"}
                onChange={(value) => setAll(value === "all")}
                data={[
                  { value: "shown", label: `First ${count(spec.limit)}` },
                  { value: "all", label: isRaw(spec) ? "All rows" : "All groups" },
                ]}
              />
            )}
            {FORMATS.map((format) => (
              <Menu.Item
                key={format.name}
                onClick={() =>
                  void fetchFile(fileSpec(spec, format, all), format, named(format.extension))
                }
              >
                {format.name}
              </Menu.Item>
            ))}
            <Menu.Item onClick={() => void copyTable().catch(notCopied)}>Copy table</Menu.Item>
            <Menu.Divider />
          </>
        )}
        <Menu.Label>Picture</Menu.Label>
        <Menu.Item onClick={() => void draw(pngOf, "png").catch(failed)}>PNG</Menu.Item>
        <Menu.Item onClick={() => void draw(({ svg }) => svgFile(svg), "svg").catch(failed)}>
          SVG
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
