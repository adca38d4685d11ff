// A function as it is edited, and what is wrong with it before it is sent.

import type { FunctionDefinition, FunctionType } from "../../api/functions";

export const TYPES: readonly FunctionType[] = ["number", "string", "bool"];

const SCALAR = `// The parameters are variables. What is returned is the value.
return page.split("?")[0];
`;

const AGGREGATE = `function init() { return { n: 0, sum: 0 }; }
// weight is how many events a row stands for.
function update(state, x, weight) { state.n += weight; state.sum += weight * x; }
function merge(a, b) { return { n: a.n + b.n, sum: a.sum + b.sum }; }
function finish(state) { return state.n === 0 ? null : state.sum / state.n; }
`;

/** A function to begin with. */
export function newFunction(kind: FunctionDefinition["kind"]): FunctionDefinition {
  const common = { name: "", language: "js", called_on_null: false } as const;
  return kind === "scalar"
    ? {
        ...common,
        kind,
        parameters: [{ name: "page", type: "string" }],
        returns: "string",
        source: SCALAR,
      }
    : {
        ...common,
        kind,
        parameters: [{ name: "x", type: "number" }],
        returns: "number",
        source: AGGREGATE,
      };
}

/** Whether nothing but the template has been written. */
export const isTemplate = (draft: FunctionDefinition): boolean =>
  draft.source === newFunction(draft.kind).source;

/** How a function is called: `stem(page string) → string`. */
export function signatureOf({ name, parameters, returns }: FunctionDefinition): string {
  const list = parameters.map((it) => `${it.name} ${it.type}`).join(", ");
  return `${name}(${list}) → ${returns}`;
}

/** The parameters of a text such as `page string, n number`; null if it is none. */
export function parametersOf(text: string): FunctionDefinition["parameters"] | null {
  if (text.trim() === "") return [];
  const parameters: FunctionDefinition["parameters"] = [];
  for (const part of text.split(",")) {
    const [name, word, ...rest] = part.trim().split(/\s+/);
    const type = TYPES.find((it) => it === word);
    if (!name || !type || rest.length > 0) return null;
    parameters.push({ name, type });
  }
  return parameters;
}

/** The opposite of `parametersOf`. */
export const parametersText = (parameters: FunctionDefinition["parameters"]): string =>
  parameters.map(({ name, type }) => `${name} ${type}`).join(", ");
