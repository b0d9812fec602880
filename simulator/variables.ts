import type { Course, Link, User } from './model.ts';

export interface VariableSources {
  user: User;
  course: Course;
  /** Null in a deep linking request. */
  link: Link | null;
  guid: string;
}

type Variable = (sources: VariableSources) => string | null;

const history = (ids: readonly string[]) => ids.map((id) => encodeURIComponent(id)).join(',');

const named =
  (read: (user: User) => string): Variable =>
  ({ user }) =>
    user.anonymous ? null : read(user);

/** The supported variables of LTI; null means no value. */
const variables: Readonly<Record<string, Variable>> = {
  'User.id': named(({ id }) => id),
  'User.username': named(({ email }) => email.split('@', 1)[0] ?? ''),
  'Person.name.full': named(({ name }) => name),
  'Person.name.given': named(({ givenName }) => givenName),
  'Person.name.family': named(({ familyName }) => familyName),
  'Person.email.primary': named(({ email }) => email),
  'Membership.role': ({ user }) => user.roles.join(','),
  'Context.id': ({ course }) => course.id,
  'Context.label': ({ course }) => course.label,
  'Context.title': ({ course }) => course.title,
  'Context.id.history': ({ course }) => history(course.history),
  'ResourceLink.id': ({ link }) => link && link.id,
  'ResourceLink.title': ({ link }) => link && link.title,
  'ResourceLink.id.history': ({ link }) => link && history(link.history),
  'ToolPlatformInstance.guid': ({ guid }) => guid,
};

export const variableNames: readonly string[] = Object.keys(variables);

/**
 * Substitutes `$Variables`, which are whole parameters. Unknown ones, and those without a value, stay as they are, as
 * the standard requires.
 */
export function substituteVariables(
  custom: Readonly<Record<string, string>>,
  sources: VariableSources,
): Record<string, string> {
  const entries = Object.entries(custom).map(([name, value]) => {
    const variable = value.startsWith('$') ? variables[value.slice(1)] : undefined;
    return [name, variable?.(sources) ?? value] as const;
  });
  return Object.fromEntries(entries);
}
