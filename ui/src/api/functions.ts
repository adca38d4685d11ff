// The answers of /v1/functions.

export type FunctionType = "number" | "string" | "bool";

export interface FunctionParameter {
  name: string;
  type: FunctionType;
}

/** A function in JavaScript. */
export interface FunctionDefinition {
  name: string;
  kind: "scalar" | "aggregate";
  language: "js";
  parameters: FunctionParameter[];
  returns: FunctionType;
  called_on_null: boolean;
  source: string;
}

export interface VersionedFunction {
  version: number;
  function: FunctionDefinition;
}
