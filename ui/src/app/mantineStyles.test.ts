import { expect, it } from "vitest";
import listed from "./mantineStyles?raw";

const sources = import.meta.glob<string>("../**/*.tsx", {
  query: "?raw",
  import: "default",
  eager: true,
});
const styles = Object.keys(import.meta.glob("/node_modules/@mantine/core/styles/*.css"));

it("has the styles of every component that the page uses", () => {
  const used = new Set<string>();
  for (const source of Object.values(sources)) {
    const imports = source.matchAll(/import \{([^}]*)\} from "@mantine\/core"/g);
    for (const [, names = ""] of imports) {
      for (const name of names.split(",")) used.add(name.trim());
    }
  }
  const withStyles = [...used].filter((name) => styles.some((it) => it.endsWith(`/${name}.css`)));
  expect(withStyles.length).toBeGreaterThan(30);
  expect(withStyles.filter((name) => !listed.includes(`/${name}.css"`))).toEqual([]);
});
