/**
 * Roles of LTI 1.3 (Core, appendix A.2). A role in the context, such as a course, is named "…/membership#Learner", a
 * finer one "…/membership/Instructor#TeachingAssistant", or by its short name alone; others are of the institution or
 * the whole system.
 */
const contextRole = /^(?:http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:\/(\w+))?#)?(\w+)$/;
const otherRole = /^http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/(?:institution|system)\/person#(\w+)$/;

const learners = ['Learner', 'Student'];
const staff = [
  'Administrator',
  'ContentDeveloper',
  'Faculty',
  'Instructor',
  'Manager',
  'Mentor',
  'Officer',
  'Staff',
  'SysAdmin',
  'SysSupport',
  'TeachingAssistant',
];

/**
 * Whether whoever launches only looks at the lesson, as teachers do: what they do there is nobody's progress. What
 * somebody is in the course decides; of who is nothing there, what they are elsewhere. Whoever learns in any way, or is
 * nothing that is known, learns.
 */
export function isPreview(roles: readonly string[]): boolean {
  const inContext = roles.flatMap((role) => {
    const [, principal, name] = contextRole.exec(role) ?? [];
    return principal ?? name ?? [];
  });
  const elsewhere = roles.flatMap((role) => otherRole.exec(role)?.[1] ?? []);
  const deciding = inContext.length > 0 ? inContext : elsewhere;
  return deciding.some((role) => staff.includes(role)) && !deciding.some((role) => learners.includes(role));
}
