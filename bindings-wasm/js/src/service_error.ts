/** A failed request, and what the service said. */
export interface Failure {
  /** The status of the answer; 0 if there was none. */
  readonly status: number;
  /** Method and address of the request, without credentials. */
  readonly request: string;
  /** The id of the request in the log of the server, if the server gave one. */
  readonly requestId: string | undefined;
  /** How long the service asked the client to wait, in milliseconds, if it did. */
  readonly retryAfterMs: number | undefined;
}

/**
 * The service did not give the requested answer. The message is that of the service: what it got
 * and what is allowed. The subclasses tell what to do about it.
 */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  readonly status: number;
  readonly request: string;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(message, options);
    this.status = failure.status;
    this.request = failure.request;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** The request is wrong: 400, 408, 415 or 416. If it is sent again, it fails again. */
export class InvalidRequestError extends ServiceError {
  override readonly name = "InvalidRequestError";
}

/** A credential is needed, or the credential sent was rejected: 401. */
export class CredentialError extends ServiceError {
  override readonly name = "CredentialError";
  /** Why an account token was rejected, such as `expired`, which merits a refresh. */
  readonly reason: string | undefined;

  constructor(message: string, failure: Failure, reason: string | undefined) {
    super(message, failure);
    this.reason = reason;
  }
}

/** The plan, standing or organization of the caller lacks access: 403. */
export class ForbiddenError extends ServiceError {
  override readonly name = "ForbiddenError";
}

/** There is no such thing: 404. */
export class NotFoundError extends ServiceError {
  override readonly name = "NotFoundError";
}

/** More requests than the rate allows: 429, after all attempts. */
export class RateLimitError extends ServiceError {
  override readonly name = "RateLimitError";
}

/** The service cannot answer now, but may answer later: 503 or 507, after all attempts. */
export class UnavailableError extends ServiceError {
  override readonly name = "UnavailableError";
}

/** A fault of the server, or an answer that does not come from this service. */
export class ServerFaultError extends ServiceError {
  override readonly name = "ServerFaultError";
}

/** No answer: the service cannot be reached, or the connection broke; its `cause` says why. */
export class ConnectionError extends ServiceError {
  override readonly name = "ConnectionError";
}

/** The error for an answer with the status of one. */
export async function errorOf(response: Response, request: string): Promise<ServiceError> {
  const { status, headers } = response;
  const failure: Failure = {
    status,
    request,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: retryAfterMs(headers.get("retry-after")),
  };
  const body = await response.text().catch(() => "");
  const said = saidIn(body);
  const message = typeof said === "string" && said !== "" ? said : `${request}: the answer was ${status}`;
  switch (status) {
    case 400:
    case 408:
    case 415:
    case 416:
      return new InvalidRequestError(message, failure);
    case 401: {
      const reason = (said as { reason?: unknown } | undefined)?.reason;
      const why = typeof reason === "string" ? reason : undefined;
      return new CredentialError(why ? `the token is rejected: ${why}` : message, failure, why);
    }
    case 403:
      return new ForbiddenError(message, failure);
    case 404:
      return new NotFoundError(message, failure);
    case 429:
      return new RateLimitError(message, failure);
    case 503:
    case 507:
      return new UnavailableError(message, failure);
    default:
      return new ServerFaultError(message, failure);
  }
}

function saidIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Milliseconds of a Retry-After: seconds, or a date. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) {
    return undefined;
  }
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
