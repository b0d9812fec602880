/** A request that a standard says to refuse; its message is for whoever develops the tool. */
export class Refusal extends Error {
  readonly status: number;
  /** As OAuth, OpenID Connect or the service has it, such as "invalid_scope". */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
