import { chat } from './chat.js';
import type { Api } from './api.js';
import { stringOf } from './fields.js';

/** Any JSON object that is only passed through: all that is asked of it is its model, '' for none. */
export const passed: Api = {
  ...chat,
  readRequest: (body) => ({
    model: stringOf(body['model']),
    stream: false,
    promptBytes: 0,
    choices: 1,
    wantsUsage: false,
    conversation: () => [],
  }),
};
