// The shapes of countries: Natural Earth at 1:110 million, as the package world-atlas has it.

import { geoEqualEarth, geoGraticule10, geoPath } from "d3-geo";
import type { Feature, Geometry } from "geojson";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import atlas from "world-atlas/countries-110m.json";

export interface Shape {
  /** The number of ISO 3166-1; NaN for land that has none. */
  readonly id: number;
  readonly name: string;
  readonly path: string;
}

export interface World {
  readonly shapes: readonly Shape[];
  readonly lines: string;
  /** Where a place is drawn; null if it is not on the map. */
  readonly project: (longitude: number, latitude: number) => readonly [number, number] | null;
}

export const [WORLD_WIDTH, WORLD_HEIGHT] = [960, 468];

let world: World | null = null;

/** The world, drawn into a box of WORLD_WIDTH by WORLD_HEIGHT. */
export function worldOf(): World {
  if (world) return world;
  const topology = atlas as unknown as Topology<{
    countries: GeometryCollection<{ name: string }>;
  }>;
  const { features } = feature(topology, topology.objects.countries);
  const projection = geoEqualEarth().fitSize([WORLD_WIDTH, WORLD_HEIGHT], { type: "Sphere" });
  const draw = geoPath(projection).digits(1);
  const shapes = features.map((feature: Feature<Geometry, { name: string }>) => ({
    id: Number(feature.id ?? Number.NaN),
    name: feature.properties.name,
    path: draw(feature) ?? "",
  }));
  const project = (longitude: number, latitude: number) => {
    const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
    return isPlace ? projection([longitude, latitude]) : null;
  };
  world = { shapes, lines: draw(geoGraticule10()) ?? "", project };
  return world;
}
