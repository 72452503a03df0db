// The types of the client, made of the description of the service: one interface or type for each
// schema, and one entry for each operation.

/** Pages for people; there is nothing to call. */
const PAGES = ["getExplorer", "getExplorerFile"];
const JSON_TYPE = "application/json";

const doc = (text, indent = "") => (text ? `${indent}/** ${text.replaceAll("*/", "* /").replaceAll("\n", " ")} */\n` : "");
const named = (ref) => ref.split("/").at(-1);

/** The type of a schema. What this does not know is an error, so that nothing becomes `any` unseen. */
function typeOf(schema, indent = "", given = false) {
  if (schema.$ref) {
    return named(schema.$ref);
  }
  if (schema.enum) {
    return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  }
  if (schema.oneOf) {
    return schema.oneOf.map((one) => typeOf(one, indent, given)).join(" | ");
  }
  if (schema.allOf) {
    return schema.allOf.map((one) => typeOf(one, indent, given)).join(" & ");
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent, given)).join(" | ");
  }
  const { type } = schema;
  if (type === "object") {
    return objectOf(schema, indent, given);
  }
  if (type === "array") {
    if (schema.minItems === schema.maxItems && schema.minItems !== undefined) {
      return `[${Array.from({ length: schema.minItems }, () => typeOf(schema.items, indent, given)).join(", ")}]`;
    }
    const items = typeOf(schema.items, indent, given);
    return `${given ? "readonly " : ""}${items.includes(" ") ? `(${items})` : items}[]`;
  }
  if (type === "string" && given && schema.pattern?.startsWith("^-?[0-9]+")) {
    return "number | string";
  }
  if (type === "string" && given && schema.format === "date-time") {
    return "string | Date";
  }
  const plain = { string: "string", number: "number", integer: "number", boolean: "boolean", null: "null" }[type];
  if (plain === undefined) {
    throw new Error(`the client has no type for ${JSON.stringify(schema)}`);
  }
  return plain;
}

function objectOf({ properties, required = [], additionalProperties, maxProperties }, indent, given) {
  if (properties === undefined) {
    const values = additionalProperties ? typeOf(additionalProperties, indent, given) : "unknown";
    return maxProperties === 0 ? "Record<string, never>" : `Record<string, ${values}>`;
  }
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const optional = required.includes(name) ? "" : "?";
    return `${doc(schema.description, inner)}${inner}${key}${optional}: ${typeOf(schema, inner, given)};\n`;
  });
  return `{\n${members.join("")}${indent}}`;
}

/** The parameters of an operation as one object; its body is the member `body`. */
function parametersOf({ parameters = [], requestBody }) {
  const members = [];
  const properties = {};
  const required = [];
  for (const { name, in: where, schema, description, required: needed } of parameters) {
    if (where === "header") {
      continue; // The cache of fetch knows when to send them.
    }
    properties[name] = { ...schema, description };
    if (needed) {
      required.push(name);
    }
  }
  if (requestBody) {
    const { schema } = Object.values(requestBody.content)[0];
    members.push(`    body: ${schema.$ref ? typeOf(schema) : "BodyInit"};\n`);
  }
  const inside = objectOf({ properties, required }, "  ", true).slice(2, -3);
  return inside || members.length ? `{\n${inside}${members.join("")}  }` : "object";
}

/** What an operation gives, as a type and as how its body is read. */
function resultOf({ responses }) {
  const [content] = Object.entries(responses).filter(([status]) => status.startsWith("2")).map(([, of]) => of.content);
  if (content[JSON_TYPE]) {
    return [typeOf(content[JSON_TYPE].schema), "json"];
  }
  const [media] = Object.keys(content);
  return media === "text/plain" ? ["string", "text"] : ["ArrayBuffer", "bytes"];
}

/** The module with the types and the table of the operations. */
export function clientTypes({ components, paths }) {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => {
    const type = typeOf(schema);
    const isPlain = schema.type === "object" && schema.properties;
    return `${doc(schema.description)}export ${isPlain ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
  });
  const [types, table, tagged] = [[], [], []];
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId: id, summary, description } = operation;
      if (PAGES.includes(id)) {
        continue;
      }
      const [result, read] = resultOf(operation);
      const says = [summary, description].filter(Boolean).map((text) => text.replace(/[^.]$/, "$&.")).join(" ");
      types.push(`${doc(says, "  ")}  ${id}: { parameters: ${parametersOf(operation)}; result: ${result} };\n`);
      const query = (operation.parameters ?? []).filter(({ in: where }) => where === "query");
      // Lists are written with commas, or, if exploded, as the parameter again and again.
      const repeated = query.filter(({ schema, explode }) => schema.type === "array" && explode !== false);
      if (Object.values(operation.responses).some(({ headers }) => headers?.ETag)) {
        tagged.push(JSON.stringify(id));
      }
      const names = (parameters) => parameters.map(({ name }) => name);
      const entry = {
        method: method.toUpperCase(),
        path,
        query: names(query),
        repeated: names(repeated),
        read,
      };
      table.push(`  ${id}: ${JSON.stringify(entry)},\n`);
    }
  }
  return `// Made of the description of the service.
${schemas.join("\n")}
/** The operations of the service: what each takes and gives. */
export interface Operations {
${types.join("")}}

/** The operations whose answers have a tag, by which the service knows whether they have changed. */
export const TAGGED = [${tagged.join(", ")}] as const;

/** How each is sent. */
export const OPERATIONS: {
  readonly [Id in keyof Operations]: {
    readonly method: string;
    readonly path: string;
    readonly query: readonly string[];
    readonly repeated: readonly string[];
    readonly read: "json" | "text" | "bytes";
  };
} = {
${table.join("")}};
`;
}
