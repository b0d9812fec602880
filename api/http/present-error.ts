import type { ErrorCode } from '../../shared/platform/errors.ts';

/** Shape A of the contract: one string. */
export function presentError(message: string) {
  return { error: message };
}

const titles: Record<ErrorCode, string> = {
  BAD_REQUEST: 'Bad Request',
  UNAUTHORIZED: 'Authentication Error',
  FEATURE_NOT_AVAILABLE: 'Forbidden',
  FORBIDDEN: 'Forbidden',
  NOT_FOUND: 'Not Found',
  METHOD_NOT_ALLOWED: 'Method Not Allowed',
  REQUEST_TIMEOUT: 'Request Timeout',
  CONFLICT: 'Conflict',
  PRECONDITION_FAILED: 'Precondition Failed',
  PAYLOAD_TOO_LARGE: 'Payload Too Large',
  RANGE_NOT_SATISFIABLE: 'Range Not Satisfiable',
  INVALID_CONTENT: 'Invalid Content',
  TOO_MANY_REQUESTS: 'Too Many Requests',
  INTERNAL_ERROR: 'Internal Server Error',
  BAD_GATEWAY: 'Bad Gateway',
};

/** Shape B of the contract, of the export endpoints. */
export function presentExportError(code: ErrorCode, message: string) {
  return { error: titles[code], message, code, timestamp: new Date().toISOString() };
}
