import { serve } from './serve.js';

/** The process of a tracing collector that takes all spans and keeps none. */
serve((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
