import { expect, test } from "vitest";
import { sendTabs } from "./sendLines";

const origin = "http://127.0.0.1:4280";

test("every tab names this server, and none asks for a token that is not needed", () => {
  for (const { name, lines } of sendTabs(origin, false)) {
    expect(lines.map(({ line }) => line).join(), name).toContain(`${origin}/v1/log/`);
    expect(lines.map(({ line }) => line).join(), name).not.toContain("HADAL_TOKEN");
  }
});

test("with a token every tab takes it from the environment", () => {
  for (const { name, lines } of sendTabs(origin, true)) {
    expect(lines.map(({ line }) => line).join(), name).toContain("HADAL_TOKEN");
  }
});
