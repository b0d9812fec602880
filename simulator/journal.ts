/** One message between the platform and a tool. */
export interface Message {
  at: Date;
  /** Such as "id_token" or "score". */
  kind: string;
  /** False if the platform rejected it. */
  accepted: boolean;
  /** One line. */
  summary: string;
  /** Decoded claims, parameters or body. */
  content: unknown;
}

/** An HTTP request to the platform. */
export interface LoggedRequest {
  at: Date;
  method: string;
  path: string;
  /** Path and query. */
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** Null while the request is pending, and after a dropped connection. */
  status: number | null;
}

export interface Journal {
  /** The newest messages, in order. */
  readonly messages: readonly Message[];
  /** The newest requests, in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  addMessage(message: Omit<Message, 'at'>): void;
  addRequest(request: LoggedRequest): void;
}

const maxMessages = 500;
const maxRequests = 10_000;

export function createJournal(): Journal {
  const messages: Message[] = [];
  const requests: LoggedRequest[] = [];
  return {
    messages,
    requests,
    addMessage(message) {
      messages.push({ at: new Date(), ...message });
      if (messages.length > maxMessages) messages.shift();
    },
    addRequest(request) {
      requests.push(request);
      if (requests.length > maxRequests) requests.shift();
    },
  };
}
