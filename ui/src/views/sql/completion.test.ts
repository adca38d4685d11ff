import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { language, namesSource, tableIn } from "./completion";

const names = {
  tables: ["requests", "My Table"],
  columnsOf: async (table: string) =>
    table === "requests"
      ? [
          { name: "service", type: "string" },
          { name: "Odd Name", type: "number" },
        ]
      : [],
  table: "requests",
};

const complete = async (text: string) => {
  const state = EditorState.create({ doc: text });
  const result = await namesSource(() => names)(new CompletionContext(state, text.length, true));
  return (result?.options ?? []).map((it) => it.apply ?? it.label);
};

test("columns are those of the table after FROM", async () => {
  expect(tableIn('SELECT x FROM "My ""T"""', "t")).toBe('My "T"');
  expect(tableIn("SELECT", "t")).toBe("t");
  expect(await complete("SELECT ser")).toContain("service");
  expect(await complete("SELECT O")).toContain('"Odd Name"');
  expect(await complete('SELECT a FROM "My Table" WHERE s')).not.toContain("service");
});

test("after FROM stand tables, elsewhere functions too", async () => {
  expect(await complete("SELECT 1 FROM ")).toEqual(["requests", '"My Table"']);
  expect(await complete("SELECT c")).toContain("count(");
});

test("text between placeholders is read like any other", () => {
  const names: string[] = [];
  const text = "SELECT a FROM t WHERE time >= $from AND time < $to GROUP BY a";
  language.parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError || type.name === "SpecialVar")
        names.push(`${type.name} ${text.slice(from, to)}`);
    },
  });
  expect(names).toEqual(["SpecialVar $from", "SpecialVar $to"]);
});
