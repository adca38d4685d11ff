import { autocompletion, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { language, type Names, namesSource } from "./completion";
import { placeOf } from "./text";

/** What is wrong with the text, and at which byte of it. */
export interface Mistake {
  readonly message: string;
  readonly byte: number;
}

const colour = (light: string, dark: string) =>
  `light-dark(var(--mantine-color-${light}), var(--mantine-color-${dark}))`;

const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.keyword, color: colour("blue-9", "blue-3"), fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: colour("green-9", "green-4") },
  { tag: [tags.number, tags.bool, tags.null], color: colour("grape-9", "grape-3") },
  { tag: [tags.standard(tags.name), tags.typeName], color: colour("cyan-9", "cyan-3") },
  { tag: tags.special(tags.name), color: colour("orange-9", "orange-3") },
  { tag: [tags.lineComment, tags.blockComment], color: colour("gray-7", "dark-2") },
]);

const LOOK = EditorView.theme({
  "&": {
    border: "1px solid var(--mantine-color-default-border)",
    borderRadius: "var(--mantine-radius-sm)",
    background: "var(--mantine-color-default)",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "2px solid var(--mantine-primary-color-filled)" },
  ".cm-scroller": {
    fontFamily: "var(--mantine-font-family-monospace)",
    lineHeight: "1.5",
    maxHeight: "40vh",
    minHeight: "84px",
  },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-cursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { background: "var(--mantine-primary-color-light)" },
  ".cm-tooltip": {
    border: "1px solid var(--mantine-color-default-border)",
    background: "var(--mantine-color-body)",
    color: "var(--mantine-color-text)",
    boxShadow: "var(--mantine-shadow-md)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--mantine-primary-color-light)",
    color: "var(--mantine-color-text)",
  },
  ".cm-completionDetail": { color: "var(--mantine-color-dimmed)", fontStyle: "normal" },
});

/** An editor of SQL. `Mod-Enter` runs the text; Tab leaves the editor, as everywhere on the page. */
export function SqlEditor(props: {
  /** The text that it begins with; another one replaces what is typed. */
  initial: string;
  names: Names;
  mistake: Mistake | null;
  onChange: (text: string) => void;
  onRun: (text: string) => void;
}) {
  const { initial, mistake } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  // The editor is made once: it calls what is current.
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (!place.current) return;
    const made = new EditorView({ state: stateOf(latest), parent: place.current });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const { current } = view;
    if (!current || current.state.doc.toString() === initial) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: initial } });
  }, [initial]);
  useEffect(() => {
    const { current } = view;
    if (current) current.dispatch(setDiagnostics(current.state, diagnosticsOf(current, mistake)));
  }, [mistake]);
  return <div ref={place} data-testid="sql-editor" />;
}

interface Latest {
  readonly current: {
    readonly initial: string;
    readonly names: Names;
    readonly onChange: (text: string) => void;
    readonly onRun: (text: string) => void;
  };
}

function stateOf(latest: Latest): EditorState {
  const run = (view: EditorView) => {
    closeCompletion(view);
    latest.current.onRun(view.state.doc.toString());
    return true;
  };
  return EditorState.create({
    doc: latest.current.initial,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      history(),
      drawSelection(),
      bracketMatching(),
      language,
      language.data.of({ autocomplete: namesSource(() => latest.current.names) }),
      autocompletion({ icons: false }),
      syntaxHighlighting(HIGHLIGHT),
      LOOK,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "SQL", spellcheck: "false" }),
      placeholder("SELECT service, count(*) FROM requests GROUP BY service"),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) latest.current.onChange(update.state.doc.toString());
      }),
    ],
  });
}

function diagnosticsOf({ state }: EditorView, mistake: Mistake | null): Diagnostic[] {
  if (!mistake) return [];
  const { from, to } = placeOf(state.doc.toString(), mistake.byte);
  return [{ from, to, severity: "error", message: mistake.message }];
}
