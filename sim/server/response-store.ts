import { LRUCache } from 'lru-cache';
import { ApiError, unknownResponse, type JsonObject } from '../apis/fields.js';
import { responseId } from '../apis/responses.js';
import type { Message } from '../text/conversation.js';
import type { Call } from './call.js';

const STORED_MAX = 256;

export class ResponseStore {
  readonly #calls = new LRUCache<string, Call>({ max: STORED_MAX });

  add(call: Call): void {
    this.#calls.set(responseId(call), call);
  }

  /** The conversation up to and including a response; `undefined` when it is not stored. */
  readonly history = (id: string): readonly Message[] | undefined => this.#calls.get(id)?.conversation();

  get(id: string): JsonObject {
    return this.#find(id).snapshot();
  }

  cancel(id: string): JsonObject {
    const call = this.#find(id);
    if (!call.cancel()) throw new ApiError(400, 'Only a response in progress can be cancelled.', 'response_id');
    return call.snapshot();
  }

  delete(id: string): JsonObject {
    this.#find(id);
    this.#calls.delete(id);
    return { id, object: 'response', deleted: true };
  }

  #find(id: string): Call {
    const call = this.#calls.get(id);
    if (call === undefined) throw unknownResponse(id);
    return call;
  }
}
