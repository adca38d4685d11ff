import { expect, test } from "vitest";
import { escaped, htmlTable, tabSeparated } from "./tableText";

const names = ["name", "n"];

test("cells are separated by tabs, and quoted where they would end a cell or a line", () => {
  const rows = [
    ["a\tb", 1],
    ['say "so"\nthen', 2.5],
    [null, true],
    [["x", "y"], 0],
  ];
  expect(tabSeparated(names, rows)).toBe(
    'name\tn\n"a\tb"\t1\n"say ""so""\nthen"\t2.5\n\ttrue\n"[""x"",""y""]"\t0',
  );
});

test("no cell becomes markup", () => {
  expect(htmlTable(names, [["<script>alert(1)</script>", 1]])).toBe(
    "<table><thead><tr><th>name</th><th>n</th></tr></thead><tbody>" +
      "<tr><td>&lt;script&gt;alert(1)&lt;/script&gt;</td><td>1</td></tr></tbody></table>",
  );
});

test("what XML cannot hold is replaced", () => {
  expect(escaped("a\u0000b\ud800c\u{1f600}")).toBe("a\ufffdb\ufffdc\u{1f600}");
});
