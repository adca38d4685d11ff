import { expect, test } from "vitest";
import { WORLD_HEIGHT, WORLD_WIDTH, worldOf } from "./geometry";

test("the world has shapes for countries, and places within it", () => {
  const { shapes, project } = worldOf();
  const germany = shapes.find(({ id }) => id === 276);
  expect(germany?.name).toBe("Germany");
  expect(germany?.path).toMatch(/^M[\d.,\-MLZ]+Z$/);
  const [x, y] = project(0, 0) ?? [];
  expect(x).toBeCloseTo(WORLD_WIDTH / 2, 0);
  expect(y).toBeCloseTo(WORLD_HEIGHT / 2, 0);
  expect(project(500, 0)).toBeNull();
});
