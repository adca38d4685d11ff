import { Text } from "@mantine/core";
import { memo } from "react";
import { HOME_ADDRESS, type PageName } from "./address";

/** The way home from everywhere. The query stays in the address. */
export const Logo = memo(function Logo({ open }: { open: (page: PageName) => void }) {
  return (
    <Text
      fw={700}
      fz="lg"
      className="logo"
      component="a"
      href={HOME_ADDRESS}
      aria-label="Hadal: home"
      title="Home: all tables"
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        open("home");
      }}
    >
      <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" fill="#0b2a4a" />
        <path
          d="M4 10c4-3 8-3 12 0s8 3 12 0"
          fill="none"
          stroke="#8fd3ff"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
        <path
          d="M7 16c3-2 6-2 9 0s6 2 9 0"
          fill="none"
          stroke="#4aa8e8"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
        <path
          d="M11 22c2-1.4 3.4-1.4 5 0s3 1.4 5 0"
          fill="none"
          stroke="#2b7cc4"
          strokeWidth="2.5"
          strokeLinecap="round"
        />
      </svg>
      <span className="wide-only">Hadal</span>
    </Text>
  );
});
