import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { memo, useEffect, useRef, useState } from "react";
import { type Commit, useExplore } from "./context";

/** Looks for a text in all columns. Typing waits for a pause; Enter does not. */
export function SearchBox() {
  const { query, commit } = useExplore();
  return <SearchField table={query.table} asked={query.search} commit={commit} />;
}

const SearchField = memo(function SearchField(props: {
  table: string;
  asked: string;
  commit: Commit;
}) {
  const { table, asked, commit } = props;
  const [text, setText] = useState(asked);
  // What this field asked comes back trimmed, and further letters may have been typed since.
  const submitted = useRef(asked);
  useEffect(() => {
    if (submitted.current !== asked) setText(asked);
    submitted.current = asked;
  }, [asked]);
  const search = (wanted: string) => {
    if (wanted.trim() === asked) return;
    submitted.current = wanted.trim();
    commit((query) => ({ ...query, search: wanted.trim() }));
  };
  const later = useDebouncedCallback(search, 400);
  const atOnce = (wanted: string) => {
    later.cancel();
    search(wanted);
  };
  return (
    <TextInput
      id="search-input"
      className="search"
      size="xs"
      leftSection={<IconSearch size={15} />}
      placeholder={`Search all columns of ${table}`}
      aria-label="Search all columns"
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        later(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") atOnce(text);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
      rightSection={
        text !== "" && (
          <CloseButton
            size="xs"
            aria-label="Clear the search"
            onClick={() => {
              setText("");
              atOnce("");
            }}
          />
        )
      }
    />
  );
});
