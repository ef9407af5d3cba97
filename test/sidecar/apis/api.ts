import { apiFor, type Api } from '../../../sidecar/apis/index.js';

export const api = (path: string): Api => apiFor(path)!;

export const chat = api('/v1/chat/completions');
export const completions = api('/v1/completions');
export const responses = api('/v1/responses');
export const messages = api('/v1/messages');
export const embeddings = api('/v1/embeddings');
