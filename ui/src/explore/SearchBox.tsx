import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { useExplore } from "./context";

/** Looks for a text in all columns. Typing waits for a pause; Enter does not. */
export function SearchBox() {
  const { query, commit } = useExplore();
  const [text, setText] = useState(query.search);
  // What this field asked comes back trimmed, and further letters may have been typed since.
  const submitted = useRef(query.search);
  useEffect(() => {
    if (submitted.current !== query.search) setText(query.search);
    submitted.current = query.search;
  }, [query.search]);
  const search = (wanted: string) => {
    if (wanted.trim() === query.search) return;
    submitted.current = wanted.trim();
    commit({ ...query, search: submitted.current });
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
      placeholder={`Search all columns of ${query.table}`}
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
}
