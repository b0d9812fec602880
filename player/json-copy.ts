/**
 * A deep copy of a JSON value. `structuredClone` would refuse what frameworks wrap in proxies.
 *
 * @throws for what JSON cannot hold: undefined, functions, cycles
 */
export function jsonCopy<Value>(value: Value): Value {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new Error('Not a JSON value');
  return JSON.parse(text) as Value;
}
