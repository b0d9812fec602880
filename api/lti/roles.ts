/**
 * Matches roles of LTI 1.3 (Core, appendix A.2). A role in the context, such as a course, is "…/membership#Learner",
 * "…/membership/Instructor#TeachingAssistant" or a short name. Other roles hold in the institution or the system.
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

/** Whether a launch is a preview without progress: the user is staff and not a learner. Unknown roles are learners. */
export function isPreview(roles: readonly string[]): boolean {
  const deciding = decidingRoles(roles);
  return deciding.some(isStaff) && !deciding.some(isLearner);
}

/** Whether the user is a learner and not staff, and so may not choose a course's lessons. */
export function isOnlyLearner(roles: readonly string[]): boolean {
  const deciding = decidingRoles(roles);
  return deciding.some(isLearner) && !deciding.some(isStaff);
}

/** Returns the names of the user's roles in the course, or of those elsewhere if there are none in the course. */
function decidingRoles(roles: readonly string[]): string[] {
  const inContext = roles.flatMap((role) => {
    const [, principal, name] = contextRole.exec(role) ?? [];
    return principal ?? name ?? [];
  });
  const elsewhere = roles.flatMap((role) => otherRole.exec(role)?.[1] ?? []);
  return inContext.length > 0 ? inContext : elsewhere;
}

function isStaff(role: string): boolean {
  return staff.includes(role);
}

function isLearner(role: string): boolean {
  return learners.includes(role);
}
