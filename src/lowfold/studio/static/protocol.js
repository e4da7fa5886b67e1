// Written by `python -m lowfold.studio._wire`; the messages are declared in _protocol.py.

/** @typedef {{"hash": string, "kind": "steps" | "codes" | "pairs" | "whole", "n": number, "low": number, "high": number, "names": string[]}} Column */
/** @typedef {{"name": string, "kind": string, "role": "data" | "label" | "colour" | "ignored", "missing": number, "constant": boolean}} ColumnInfo */
/** @typedef {{"id": string, "name": string, "n": number, "features": number, "shown": number, "columns": ColumnInfo[], "more_columns": number, "notices": string[], "item": "image" | "curve" | "words" | "row", "shape": number[], "low": number, "high": number, "colours": {[name: string]: Column}, "missing": number, "dropped": number, "gaps": number, "filled": string, "standardize": string, "header": boolean | null, "rows": Column | null, "matrix": boolean, "square": boolean, "picture": Column[]}} DataInfo */
/** @typedef {{"name": string, "kind": "int" | "real" | "choice" | "flag" | "text", "default": any, "options": string[], "low": number | null, "high": number | null, "open_low": boolean, "none": string | null, "sentence": string, "allowed": string, "more": boolean, "tuned": boolean}} Control */
/** @typedef {{"name": string, "family": string, "line": string, "citation": string, "unusable": string, "controls": Control[]}} MethodInfo */
/** @typedef {{"name": string, "seconds": number | null, "share": number | null, "bytes": number | null, "kept": boolean}} StageInfo */
/** @typedef {{"id": string, "method": string, "params": {[name: string]: any}, "status": "waiting" | "running" | "done" | "failed" | "stopped", "data": string, "reason": string, "stages": StageInfo[], "picture": Column[], "preview": number, "facts": {[name: string]: any}, "warnings": string[], "edges": Column | null, "edges_total": number, "measured": {[name: string]: any} | null, "colours": {[name: string]: Column}, "stability": {[name: string]: any} | null, "placed": ({[name: string]: any})[], "invertible": boolean, "silent": number}} RunInfo */
/** @typedef {{"do": "open", "id": number, "name": string, "n": number, "noise": number, "seed": number}} OpenCommand */
/** @typedef {{"do": "batch", "id": number}} BatchCommand */
/** @typedef {{"do": "take", "id": number, "batch": string}} TakeCommand */
/** @typedef {{"do": "assign", "id": number, "roles": {[name: string]: string}, "missing": "keep" | "drop" | "mean", "matrix": boolean, "standardize": "none" | "unit" | "robust", "header": "same" | "yes" | "no"}} AssignCommand */
/** @typedef {{"do": "look", "id": number}} LookCommand */
/** @typedef {{"do": "plan", "id": number, "method": string, "params": {[name: string]: any}}} PlanCommand */
/** @typedef {{"do": "start", "id": number, "method": string, "params": {[name: string]: any}}} StartCommand */
/** @typedef {{"do": "tune", "id": number, "method": string, "params": {[name: string]: any}, "names": string[]}} TuneCommand */
/** @typedef {{"do": "stop", "id": number, "what": string}} StopCommand */
/** @typedef {{"do": "remove", "id": number, "run": string}} RemoveCommand */
/** @typedef {{"do": "stability", "id": number, "run": string}} StabilityCommand */
/** @typedef {{"do": "place", "id": number, "run": string, "batch": string}} PlaceCommand */
/** @typedef {{"do": "invert", "id": number, "run": string, "points": number[][]}} InvertCommand */
/** @typedef {{"do": "near", "id": number, "row": number, "k": number}} NearCommand */
/** @typedef {{"do": "colour", "id": number, "name": string}} ColourCommand */
/** @typedef {{"do": "export", "id": number, "what": "csv" | "parquet" | "rows" | "model" | "report" | "session", "run": string, "rows": number[]}} ExportCommand */
/** @typedef {{"do": "recipe", "id": number, "run": string}} RecipeCommand */
/** @typedef {{"say": "hello", "version": string, "data": DataInfo | null, "look": {[name: string]: any} | null, "runs": RunInfo[], "methods": MethodInfo[], "sets": ({[name: string]: any})[], "budget": number, "busy": string[], "uploads": number}} HelloEvent */
/** @typedef {{"say": "methods", "methods": MethodInfo[]}} MethodsEvent */
/** @typedef {{"say": "data", "data": DataInfo | null}} DataEvent */
/** @typedef {{"say": "looked", "look": {[name: string]: any} | null}} LookedEvent */
/** @typedef {{"say": "ran", "run": RunInfo}} RanEvent */
/** @typedef {{"say": "gone", "run": string}} GoneEvent */
/** @typedef {{"say": "busy", "busy": string[]}} BusyEvent */
/** @typedef {{"say": "answer", "id": number, "result": any}} AnswerEvent */
/** @typedef {{"say": "refused", "id": number, "words": string}} RefusedEvent */
/** @typedef {OpenCommand | BatchCommand | TakeCommand | AssignCommand | LookCommand | PlanCommand | StartCommand | TuneCommand | StopCommand | RemoveCommand | StabilityCommand | PlaceCommand | InvertCommand | NearCommand | ColourCommand | ExportCommand | RecipeCommand} AnyCommand */
/** @typedef {HelloEvent | MethodsEvent | DataEvent | LookedEvent | RanEvent | GoneEvent | BusyEvent | AnswerEvent | RefusedEvent} AnyEvent */

export {};
